#pragma once
// Tiles of matrix products with quantised weights, see cpu/simd/linear_tiles.h. The integers of a
// block are multiplied exactly, with int16 inputs or, where that is as exact, with int8 ones.

#include "cpu/quant_values.h"
#include "cpu/simd/linear_tiles.h"

namespace wl::cpu::simd {

using backend::kBlockInputs;
using backend::Quants;
using backend::SubScale;

// How far ahead a streamed panel is fetched: the hardware alone reaches half of the read rate on
// these records. 1 to 6 KiB do equally well; without it decode is a fifth slower (bench/engine).
constexpr int kPrefetchBytes = 3072;

/// What a tile multiplies weights with: exact either way, bytes are twice as many a vector.
enum class Operand { kInt16, kInt8 };

/// Whether V multiplies the integers of a form with int8 inputs directly. It takes weights that are
/// unsigned as they are stored, or that it can make so.
template <class V>
constexpr bool takes_int8(WeightForm form) {
  switch (backend::record_layout(form).quants) {
    case Quants::kNibble:
      return !has_nibble_table(form);
    case Quants::kSixBit:
    case Quants::kByte:
      return V::kHasByteQuads;
    case Quants::kNone:
      return false;
  }
  return false;
}

/// Where the quantised inputs of one tile's tokens lie. (On V only to keep it inside this file's
/// instruction set.)
template <class V, int kColumns>
struct TileInput {
  const int16_t* q[kColumns];
  const int8_t* q8[kColumns];  // with int8 inputs only
  const float* scale[kColumns];
  const int32_t* sum[kColumns];
  const int32_t* low_sum[kColumns];
  const float* scaled_sum[kColumns];

  TileInput(const backend::LinearInput& input, int token) {
    const int num_blocks = input.x.cols / kBlockInputs;
    for (int c = 0; c < kColumns; ++c) {
      const int64_t first = static_cast<int64_t>(token + c) * num_blocks;
      q[c] = input.q + first * kBlockInputs;
      q8[c] = input.q8 + (input.q8 == nullptr ? 0 : first * kBlockInputs);
      scale[c] = input.scale + first;
      sum[c] = input.sum + first;
      low_sum[c] = input.low_sum + first;
      scaled_sum[c] = input.scaled_sum + first;
    }
  }
};

/// 32 bytes of nibbles as the integers that they stand for, a centre aside.
template <class V, WeightForm kForm>
WL_INLINE void read_nibbles(const uint8_t* bytes, typename V::W* low, typename V::W* high) {
  if constexpr (has_nibble_table(kForm)) {
    constexpr const int8_t* kTable = nibble_table(kForm);
    V::look_up_nibbles(bytes, kTable, low, high);
  } else {
    V::unpack_nibbles(bytes, low, high);
  }
}

/// Inputs 2 * pair, 2 * pair + 1 of a half that is stored in six bits, from its run w0 on.
template <class V>
WL_INLINE typename V::W read_six_bits(const uint8_t* runs, int pair) {
  const auto run = [runs](int index) { return V::load_words(runs + 64 * index); };
  if (pair < 6) {
    const typename V::W words = run(pair / 2);
    return pair % 2 == 0 ? V::and_words(words, 63) : V::shift_words_right(words, 10);
  }
  const typename V::W low = V::and_words(V::shift_words_right(run(pair - 6), 6), 15);
  const typename V::W high = V::and_words(V::shift_words_right(run(2), pair == 6 ? 2 : 4), 48);
  return V::or_words(low, high);
}

/// dot[c] += products of 16 inputs of block b from input k on, by int8.
template <class V, WeightForm kForm, int kColumns>
WL_INLINE void add_half_by_int8(const uint8_t* quants, const TileInput<V, kColumns>& input, int b,
                                int k, typename V::I* dot) {
  const int8_t* q8[kColumns];
  const int64_t offset = static_cast<int64_t>(b) * kBlockInputs + k;
  for (int c = 0; c < kColumns; ++c) q8[c] = input.q8[c] + offset;
  constexpr Quants kQuants = backend::record_layout(kForm).quants;
  const uint8_t* bytes = quants + k * kPanelRows * static_cast<int>(kQuants) / 8;
  if constexpr (kQuants == Quants::kNibble) {
    V::template add_nibble_quads<kColumns>(bytes, q8, dot);
  } else if constexpr (kQuants == Quants::kSixBit) {
#pragma GCC unroll 4
    for (int quad = 0; quad < 4; ++quad) {
      const typename V::W low = read_six_bits<V>(bytes, 2 * quad);
      const typename V::W high = read_six_bits<V>(bytes, 2 * quad + 1);
      V::template add_word_quads<kColumns>(low, high, q8, 4 * quad, dot);
    }
  } else {
    V::template add_byte_quads<kColumns>(bytes, q8, dot);
  }
}

/// dot[c] += products of the two inputs of w, q[c] + k on.
template <class V, int kColumns>
WL_INLINE void add_pair(typename V::W w, const TileInput<V, kColumns>& input, int64_t k,
                        typename V::I* dot) {
#pragma GCC unroll 16
  for (int c = 0; c < kColumns; ++c) dot[c] = V::dot_pairs(dot[c], w, input.q[c] + k);
}

/// dot[c] += products of 16 inputs of block b from input k on, by int16.
template <class V, WeightForm kForm, int kColumns>
WL_INLINE void add_half_by_int16(const uint8_t* quants, const TileInput<V, kColumns>& input, int b,
                                 int k, typename V::I* dot) {
  constexpr Quants kQuants = backend::record_layout(kForm).quants;
  const int64_t offset = static_cast<int64_t>(b) * kBlockInputs + k;
  const uint8_t* bytes = quants + k * kPanelRows * static_cast<int>(kQuants) / 8;
#pragma GCC unroll 8
  for (int pair = 0; pair < kBlockInputs / 4; ++pair) {
    if constexpr (kQuants == Quants::kSixBit) {
      add_pair<V, kColumns>(read_six_bits<V>(bytes, pair), input, offset + 2 * pair, dot);
    } else if constexpr (kQuants == Quants::kByte) {
      add_pair<V, kColumns>(V::load_bytes(bytes + 32 * pair), input, offset + 2 * pair, dot);
    } else if (pair % 2 == 0) {  // nibbles of two pairs share their bytes
      typename V::W low, high;
      read_nibbles<V, kForm>(bytes + 16 * pair, &low, &high);
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) {
        dot[c] = V::dot_pairs(dot[c], low, input.q[c] + offset + 2 * pair);
        dot[c] = V::dot_pairs(dot[c], high, input.q[c] + offset + 2 * pair + 2);
      }
    }
  }
}

/// dot[c] += products of inputs [kBegin, kEnd) of block b.
template <class V, WeightForm kForm, Operand kOperand, int kBegin, int kEnd, int kColumns>
WL_INLINE void add_products(const uint8_t* quants, const TileInput<V, kColumns>& input, int b,
                            typename V::I* dot) {
#pragma GCC unroll 2
  for (int k = kBegin; k < kEnd; k += kBlockInputs / 2) {
    if constexpr (kOperand == Operand::kInt8) {
      add_half_by_int8<V, kForm, kColumns>(quants, input, b, k, dot);
    } else {
      add_half_by_int16<V, kForm, kColumns>(quants, input, b, k, dot);
    }
  }
}

/// Start value of a dot over inputs whose sum is `sum`: what the multiplied integers are above
/// those that they stand for. (Signed bytes are made unsigned for int8 inputs.)
template <class V, WeightForm kForm, Operand kOperand>
WL_INLINE typename V::I centre_of(int32_t sum) {
  constexpr bool kIsByte = backend::record_layout(kForm).quants == Quants::kByte;
  constexpr int kCentre = kIsByte && kOperand == Operand::kInt8 ? 128 : quant_centre(kForm);
  return kCentre == 0 ? V::izero() : V::iset1(-kCentre * sum);
}

/// The two sub-scales of each row, and the two sub-minimums where the form has them.
template <class V, WeightForm kForm>
struct SubScales {
  typename V::I scale[2], min[2];

  explicit SubScales(const uint8_t* record) {
    constexpr backend::RecordLayout kLayout = backend::record_layout(kForm);
    for (int half = 0; half < 2; ++half) {
      const uint8_t* bytes = record + kLayout.sub_scale_offset() + half * kPanelRows;
      if constexpr (kLayout.sub_scale == SubScale::kScaleMin) {
        V::load_nibbles(bytes, &scale[half], &min[half]);
      } else {
        scale[half] = V::load_i8(bytes);
      }
    }
  }
};

/// The integer dots of block b, sub-scales multiplied in.
template <class V, WeightForm kForm, Operand kOperand, int kColumns>
WL_INLINE void block_dots(const uint8_t* record, const TileInput<V, kColumns>& input, int b,
                          typename V::I* dot) {
  constexpr backend::RecordLayout kLayout = backend::record_layout(kForm);
  const uint8_t* quants = record + kLayout.quant_offset();
  if constexpr (!kLayout.has_half_scales()) {
    for (int c = 0; c < kColumns; ++c) dot[c] = centre_of<V, kForm, kOperand>(input.sum[c][b]);
    add_products<V, kForm, kOperand, 0, kBlockInputs>(quants, input, b, dot);
  } else {
    typename V::I second[kColumns];
    for (int c = 0; c < kColumns; ++c) {
      const int32_t low_sum = input.low_sum[c][b];
      dot[c] = centre_of<V, kForm, kOperand>(low_sum);
      second[c] = centre_of<V, kForm, kOperand>(input.sum[c][b] - low_sum);
    }
    add_products<V, kForm, kOperand, 0, kBlockInputs / 2>(quants, input, b, dot);
    add_products<V, kForm, kOperand, kBlockInputs / 2, kBlockInputs>(quants, input, b, second);
    const SubScales<V, kForm> sub(record);
    for (int c = 0; c < kColumns; ++c) {
      dot[c] = V::iadd(V::imul(dot[c], sub.scale[0]), V::imul(second[c], sub.scale[1]));
    }
  }
}

/// The scales (index 0) or minimums (1) of a record, with the sub-scales of the whole block.
template <class V, WeightForm kForm, int kIndex>
typename V::F load_scales(const uint8_t* record) {
  constexpr backend::RecordLayout kLayout = backend::record_layout(kForm);
  const uint8_t* scales = record + kIndex * kLayout.min_offset();
  if constexpr (kLayout.scale_bytes == 4) {
    return V::load(reinterpret_cast<const float*>(scales));
  } else if constexpr (kLayout.sub_scale == SubScale::kBlock) {
    const uint8_t* sub_scales = record + kLayout.sub_scale_offset() + kIndex * kPanelRows;
    return V::mul(V::load_f16(scales), V::to_float(V::load_i8(sub_scales)));
  } else {
    return V::load_f16(scales);
  }
}

/// min_acc[c] += minimums of block b times the sums of its inputs.
template <class V, WeightForm kForm, int kColumns>
WL_INLINE void add_minimums(const uint8_t* record, const TileInput<V, kColumns>& input, int b,
                            typename V::F* min_acc) {
  constexpr backend::RecordLayout kLayout = backend::record_layout(kForm);
  const typename V::F w_min = load_scales<V, kForm, 1>(record);
  if constexpr (kLayout.sub_scale == SubScale::kScaleMin) {
    const SubScales<V, kForm> sub(record);
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) {
      const int32_t low_sum = input.low_sum[c][b];
      const typename V::I min_sum =
          V::iadd(V::imul(sub.min[0], V::iset1(low_sum)),
                  V::imul(sub.min[1], V::iset1(input.sum[c][b] - low_sum)));
      min_acc[c] =
          V::fma(w_min, V::mul(V::set1(input.scale[c][b]), V::to_float(min_sum)), min_acc[c]);
    }
  } else {
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) {
      min_acc[c] = V::fma(w_min, V::set1(input.scaled_sum[c][b]), min_acc[c]);
    }
  }
}

/// `is_streamed`: the panel comes from memory, not from the cache.
template <class V, WeightForm kForm, Operand kOperand, int kColumns>
void quantized_tile(const LinearArgs& args, int panel, int token, bool is_streamed) {
  constexpr backend::RecordLayout kLayout = backend::record_layout(kForm);
  const int num_blocks = args.weight.cols / kBlockInputs;
  const uint8_t* record = args.weight.panels + panel * args.weight.panel_bytes();
  const TileInput<V, kColumns> input(args.input, token);
  typename V::F acc[kColumns], min_acc[kColumns];
  for (int c = 0; c < kColumns; ++c) acc[c] = min_acc[c] = V::zero();
  // Wide tiles need all registers for the products; their minimums follow in a pass of their own
  // over the same records, which lie in the cache by then.
  constexpr bool kMinsApart = kColumns >= V::kTileColumns;
  for (int b = 0; b < num_blocks; ++b, record += record_bytes(kForm)) {
    if (is_streamed) {
      for (int line = 0; line < record_bytes(kForm); line += 64) {
        __builtin_prefetch(record + kPrefetchBytes + line);
      }
    }
    typename V::I dot[kColumns];
    block_dots<V, kForm, kOperand, kColumns>(record, input, b, dot);
    const typename V::F w_scale = load_scales<V, kForm, 0>(record);
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) {
      acc[c] = V::fma(V::to_float(dot[c]), V::mul(w_scale, V::set1(input.scale[c][b])), acc[c]);
    }
    if constexpr (kLayout.has_min && !kMinsApart) {
      add_minimums<V, kForm, kColumns>(record, input, b, min_acc);
    }
  }
  if constexpr (kLayout.has_min && kMinsApart) {
    record -= num_blocks * record_bytes(kForm);
    for (int b = 0; b < num_blocks; ++b, record += record_bytes(kForm)) {
      add_minimums<V, kForm, kColumns>(record, input, b, min_acc);
    }
  }
#pragma GCC unroll 16
  for (int c = 0; c < kColumns; ++c) {
    const typename V::F value = kLayout.has_min ? V::add(acc[c], min_acc[c]) : acc[c];
    store_outputs<V>(args, panel, token + c, value);
  }
}

}  // namespace wl::cpu::simd
