#pragma once
// Products of 16 and more rows with quantised weights by AMX int8 tiles, from the same panels and
// with the same float operations as the AVX-512 kernels: equal to them bit for bit, so that rows
// may go either way.
//
// A C tile is 16 tokens x 16 outputs of one block: A [16 tokens, 32 inputs] times B [8, 16 outputs
// x 4 inputs], the block's integers as signed bytes. Wide inputs are 128 * high + low and take a
// product each, `dot = 128 * C_high + C_low`. There is no way from a tile to a vector register but
// through memory, and a store of 16 rows takes as long as the product (16 cycles each on Emerald
// Rapids). Per block, two products and two stores hide behind 16 x (2 loads, shift, add, convert,
// multiply, fma), at one vector operation a cycle while tiles run: about 90 cycles for 8192
// multiply-adds, where VNNI needs 128 for its int16 products alone. With int8 inputs it is one
// product, and about half. So: tiles from 16 rows on, less is left to VNNI; and forms with
// sub-scales of halves, whose dots come as twice as many tiles, are left to it too.
//
// Never timed on a CPU that has AMX (test/native/cpu/emulated runs it on AVX2; as machine code it
// has run in an emulated CPU), so cpu/dispatch.cpp tries it before it takes it.
//
// Included by one .cpp only, after cpu/avx512/vec_avx512.h and what defines the tile intrinsics.

#include <cstdint>

#include "cpu/simd/quantized_tiles.h"

namespace wl::cpu {
namespace {
namespace amx {

using backend::kBlockInputs;
using backend::kPanelRows;
using backend::Quants;
using backend::WeightForm;
using simd::Operand;

constexpr int kTileTokens = 16;
constexpr int kMaxTiles = 4;      // tiles of tokens that share an unpacked stretch of a panel
constexpr int kChunkBlocks = 32;  // of that stretch: 16 KiB
constexpr int kBTileBytes = kBlockInputs * kPanelRows;

/// Operand of ldtilecfg: tile 0 is C_low, 1 C_high, 2 A of the low bytes, 3 A of the high ones, 4
/// B. (The intrinsics take the number of a tile as a literal only.)
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 32, 32, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 8};
};
static_assert(sizeof(TileConfig) == 64);
constexpr TileConfig kTileConfig;

/// gcc 12 does not tell its optimizer that tiles are loaded from memory.
void finish_stores() { __asm__ volatile("" ::: "memory"); }

/// The B tile of one block: [8 quads of inputs, 16 outputs x 4 inputs] signed bytes.
template <WeightForm kForm>
void unpack_block(const uint8_t* record, int8_t* tile) {
  using V = VecAvx512;
  constexpr backend::RecordLayout kLayout = backend::record_layout(kForm);
  const uint8_t* quants = record + kLayout.quant_offset();
#pragma GCC unroll 8
  for (int quad = 0; quad < kBlockInputs / 4; ++quad) {
    V::I bytes;
    if constexpr (kLayout.quants == Quants::kByte) {
      bytes = V::byte_quads(quants + 64 * quad);
    } else if constexpr (has_nibble_table(kForm)) {
      bytes = V::look_up_bytes(V::nibble_quads(quants + 32 * quad), nibble_table(kForm));
    } else {
      bytes = V::subtract_from_bytes(V::nibble_quads(quants + 32 * quad), quant_centre(kForm));
    }
    V::istore(reinterpret_cast<int32_t*>(tile + 64 * quad), bytes);
  }
}

/// A stretch of blocks of one panel.
struct Chunk {
  const uint8_t* records;  // of the first block
  const int8_t* tiles;     // B tiles of all blocks
  int first_block;
  int num_blocks;
};

/// acc [16 tokens][16 outputs] += products of a chunk with the tokens from `token` on.
template <WeightForm kForm, Operand kOperand>
void add_chunk(const Chunk& chunk, const backend::LinearInput& input, int token, float* acc) {
  using V = VecAvx512;
  constexpr bool kIsWide = kOperand == Operand::kInt16;
  alignas(64) int32_t high[kTileTokens][kPanelRows], low[kTileTokens][kPanelRows];
  const int cols = input.x.cols;
  const int64_t first_input = static_cast<int64_t>(token) * cols;
  const int8_t* a_high = (kIsWide ? input.q_high : input.q8) + first_input;
  const int8_t* a_low = (kIsWide ? input.q_low : input.q8) + first_input;
  const float* scale = input.scale + first_input / kBlockInputs;
  V::F sums[kTileTokens];
#pragma GCC unroll 16
  for (int t = 0; t < kTileTokens; ++t) sums[t] = V::load(acc + t * kPanelRows);
  for (int i = 0; i < chunk.num_blocks; ++i) {
    const int b = chunk.first_block + i;
    _tile_loadd(4, chunk.tiles + i * kBTileBytes, 64);
    _tile_zero(0);
    _tile_loadd(2, a_low + b * kBlockInputs, cols);
    _tile_dpbssd(0, 2, 4);
    _tile_stored(0, low, 64);
    if constexpr (kIsWide) {
      _tile_zero(1);
      _tile_loadd(3, a_high + b * kBlockInputs, cols);
      _tile_dpbssd(1, 3, 4);
      _tile_stored(1, high, 64);
    }
    const V::F w_scale =
        simd::load_scales<V, kForm, 0>(chunk.records + i * backend::record_bytes(kForm));
#pragma GCC unroll 16
    for (int t = 0; t < kTileTokens; ++t) {
      V::I dot = V::iload(low[t]);
      if constexpr (kIsWide) dot = V::iadd(dot, V::template shift_left<7>(V::iload(high[t])));
      const V::F x_scale = V::set1(scale[t * (cols / kBlockInputs) + b]);
      sums[t] = V::fma(V::to_float(dot), V::mul(w_scale, x_scale), sums[t]);
    }
  }
#pragma GCC unroll 16
  for (int t = 0; t < kTileTokens; ++t) V::store(acc + t * kPanelRows, sums[t]);
}

/// acc += minimums of a chunk times the sums of the inputs.
template <WeightForm kForm>
void add_chunk_minimums(const Chunk& chunk, const backend::LinearInput& input, int token,
                        float* acc) {
  using V = VecAvx512;
  const simd::TileInput<V, kTileTokens> columns(input, token);
  V::F sums[kTileTokens];
#pragma GCC unroll 16
  for (int t = 0; t < kTileTokens; ++t) sums[t] = V::load(acc + t * kPanelRows);
  for (int i = 0; i < chunk.num_blocks; ++i) {
    simd::add_minimums<V, kForm, kTileTokens>(chunk.records + i * backend::record_bytes(kForm),
                                              columns, chunk.first_block + i, sums);
  }
#pragma GCC unroll 16
  for (int t = 0; t < kTileTokens; ++t) V::store(acc + t * kPanelRows, sums[t]);
}

/// One panel times `num_tiles` tiles of tokens from `token` on.
template <WeightForm kForm, Operand kOperand>
void panel_product(const LinearArgs& args, int panel, int token, int num_tiles) {
  using V = VecAvx512;
  constexpr bool kHasMin = backend::record_layout(kForm).has_min;
  constexpr int kTileFloats = kTileTokens * kPanelRows;
  alignas(64) int8_t tiles[kChunkBlocks * kBTileBytes];
  alignas(64) float acc[kMaxTiles * kTileFloats] = {}, min_acc[kMaxTiles * kTileFloats] = {};
  const uint8_t* records = args.weight.panels + panel * args.weight.panel_bytes();
  const int num_blocks = args.weight.num_records();
  for (int first = 0; first < num_blocks; first += kChunkBlocks) {
    const int count = num_blocks - first < kChunkBlocks ? num_blocks - first : kChunkBlocks;
    const Chunk chunk{records + first * backend::record_bytes(kForm), tiles, first, count};
    for (int i = 0; i < count; ++i) {
      unpack_block<kForm>(chunk.records + i * backend::record_bytes(kForm),
                          tiles + i * kBTileBytes);
    }
    finish_stores();
    for (int t = 0; t < num_tiles; ++t) {
      const int first_token = token + t * kTileTokens;
      add_chunk<kForm, kOperand>(chunk, args.input, first_token, acc + t * kTileFloats);
      if constexpr (kHasMin) {
        add_chunk_minimums<kForm>(chunk, args.input, first_token, min_acc + t * kTileFloats);
      }
    }
  }
  for (int t = 0; t < num_tiles * kTileTokens; ++t) {
    const V::F sum = V::load(acc + t * kPanelRows);
    const V::F value = kHasMin ? V::add(sum, V::load(min_acc + t * kPanelRows)) : sum;
    simd::store_outputs<V>(args, panel, token + t, value);
  }
}

/// Rows [0, num_rows) of the product; num_rows is a multiple of 16.
template <WeightForm kForm, Operand kOperand>
void tiled_rows(const LinearArgs& args, int num_rows) {
  constexpr int kStep = kMaxTiles * kTileTokens;
  finish_stores();
  _tile_loadconfig(&kTileConfig);
  for (int token = 0; token < num_rows; token += kStep) {
    const int num_tiles = num_rows - token < kStep ? (num_rows - token) / kTileTokens : kMaxTiles;
    for (int panel = args.panel_begin; panel < args.panel_end; ++panel) {
      panel_product<kForm, kOperand>(args, panel, token, num_tiles);
    }
  }
  _tile_release();
}

/// Getter of the AVX-512 kernels that do what tiles do not.
using VectorKernels = const KernelTable* (*)();

template <VectorKernels kVectorKernels, WeightForm kForm>
void linear(const LinearArgs& args) {
  const int num_rows = args.input.x.rows / kTileTokens * kTileTokens;
  if (num_rows > 0) {
    if (args.input.q8 != nullptr) {
      tiled_rows<kForm, Operand::kInt8>(args, num_rows);
    } else {
      tiled_rows<kForm, Operand::kInt16>(args, num_rows);
    }
  }
  const int rest = args.input.x.rows - num_rows;
  if (rest == 0) return;
  LinearArgs last = args;
  last.input = args.input.slice(num_rows, rest);
  last.out = {args.out.row(num_rows), rest, args.out.cols};
  kVectorKernels()->linear[static_cast<int>(kForm)](last);
}

template <VectorKernels kVectorKernels>
void quantize_rows(backend::Matrix x, int row_begin, int row_end, float levels,
                   const QuantizedRows& out) {
  kVectorKernels()->quantize_rows(x, row_begin, row_end, levels, out);
  if (out.q_high == nullptr) return;
  const int64_t end = static_cast<int64_t>(row_end) * x.cols;
  for (int64_t i = static_cast<int64_t>(row_begin) * x.cols; i < end; ++i) {
    out.q_high[i] = static_cast<int8_t>(out.q[i] >> 7);
    out.q_low[i] = static_cast<int8_t>(out.q[i] & 127);
  }
}

/// The vector kernels, with tiles for the products that take them.
template <VectorKernels kVectorKernels>
KernelTable make_table(const char* name) {
  KernelTable table = *kVectorKernels();
  table.name = name;
  table.splits_inputs = true;
  table.quantize_rows = quantize_rows<kVectorKernels>;
  const auto set = [&table](WeightForm form, void (*kernel)(const LinearArgs&)) {
    table.linear[static_cast<int>(form)] = kernel;
  };
  set(WeightForm::kNibble, linear<kVectorKernels, WeightForm::kNibble>);
  set(WeightForm::kNibbleMin, linear<kVectorKernels, WeightForm::kNibbleMin>);
  set(WeightForm::kNibbleBlockScale, linear<kVectorKernels, WeightForm::kNibbleBlockScale>);
  set(WeightForm::kByte, linear<kVectorKernels, WeightForm::kByte>);
  set(WeightForm::kByteMin, linear<kVectorKernels, WeightForm::kByteMin>);
  set(WeightForm::kByteBlockScale, linear<kVectorKernels, WeightForm::kByteBlockScale>);
  set(WeightForm::kNibbleIq4, linear<kVectorKernels, WeightForm::kNibbleIq4>);
  set(WeightForm::kNibbleFp4, linear<kVectorKernels, WeightForm::kNibbleFp4>);
  return table;
}

}  // namespace amx
}  // namespace
}  // namespace wl::cpu
