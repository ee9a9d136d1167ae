#include "cpu/block_readers.h"

#include <cstring>

#include "cpu/quant_values.h"
#include "quant/dequantize.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/mxfp4.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace wl::cpu {

using backend::kBlockInputs;
using backend::WeightForm;

namespace {

void put(uint8_t* out, uint16_t half) { std::memcpy(out, &half, sizeof(half)); }
void put(uint8_t* out, float value) { std::memcpy(out, &value, sizeof(value)); }

template <class Block>
Block read_block(const uint8_t* row, int index) {
  Block block;
  std::memcpy(&block, row + static_cast<size_t>(index) * sizeof(Block), sizeof(Block));
  return block;
}

void split_nibbles(const uint8_t* qs, int8_t* q) {
  for (int j = 0; j < 16; ++j) {
    q[j] = static_cast<int8_t>(qs[j] & 15);
    q[j + 16] = static_cast<int8_t>(qs[j] >> 4);
  }
}

RowBlock read_q4_0(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ4_0>(row, b);
  RowBlock out;
  put(out.scale, block.d);
  split_nibbles(block.qs, out.q);
  return out;
}

RowBlock read_q4_1(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ4_1>(row, b);
  RowBlock out;
  put(out.scale, block.d);
  put(out.min, block.m);
  split_nibbles(block.qs, out.q);
  return out;
}

RowBlock read_q5_0(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ5_0>(row, b);
  RowBlock out;
  put(out.scale, block.d);
  for (int j = 0; j < 16; ++j) {
    out.q[j] = static_cast<int8_t>(quant::q5_low_value(block.qh, block.qs, j) - 16);
    out.q[j + 16] = static_cast<int8_t>(quant::q5_high_value(block.qh, block.qs, j) - 16);
  }
  return out;
}

RowBlock read_q5_1(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ5_1>(row, b);
  RowBlock out;
  put(out.scale, block.d);
  put(out.min, block.m);
  for (int j = 0; j < 16; ++j) {
    out.q[j] = static_cast<int8_t>(quant::q5_low_value(block.qh, block.qs, j));
    out.q[j + 16] = static_cast<int8_t>(quant::q5_high_value(block.qh, block.qs, j));
  }
  return out;
}

RowBlock read_q8_0(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ8_0>(row, b);
  RowBlock out;
  put(out.scale, block.d);
  std::memcpy(out.q, block.qs, sizeof(out.q));
  return out;
}

/// A K super-block's scale and minimum; the latter is subtracted in the file's formula.
template <class Block>
void put_k_scales(const Block& block, RowBlock* out) {
  constexpr uint16_t kSign = 0x8000;
  put(out->scale, block.d);
  put(out->min, static_cast<uint16_t>(block.dmin ^ kSign));
}

/// Nibble l (0..31) of sub-block j of a Q4_K or Q5_K super-block.
int k_nibble(const uint8_t* qs, int j, int l) {
  const uint8_t byte = qs[32 * (j / 2) + l];
  return j % 2 == 0 ? byte & 15 : byte >> 4;
}

RowBlock read_q4_k(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ4_K>(row, b / 8);
  const int j = b % 8;
  RowBlock out;
  put_k_scales(block, &out);
  quant::scale_min_k4(j, block.scales, &out.sub_scale[0], &out.sub_scale[1]);
  for (int l = 0; l < kBlockInputs; ++l) {
    out.q[l] = static_cast<int8_t>(k_nibble(block.qs, j, l));
  }
  return out;
}

RowBlock read_q5_k(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ5_K>(row, b / 8);
  const int j = b % 8;
  RowBlock out;
  put_k_scales(block, &out);
  quant::scale_min_k4(j, block.scales, &out.sub_scale[0], &out.sub_scale[1]);
  for (int l = 0; l < kBlockInputs; ++l) {
    out.q[l] = static_cast<int8_t>(k_nibble(block.qs, j, l) | (block.qh[l] >> j & 1) << 4);
  }
  return out;
}

RowBlock read_q6_k(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ6_K>(row, b / 8);
  const int n = b % 8 / 4, g = b % 4;
  RowBlock out;
  put(out.scale, block.d);
  std::memcpy(out.sub_scale, block.scales + 8 * n + 2 * g, sizeof(out.sub_scale));
  for (int l = 0; l < kBlockInputs; ++l) {
    out.q[l] = static_cast<int8_t>(quant::q6_k_value(block, n, g, l) +
                                   quant_centre(WeightForm::kSixBitSubScale));
  }
  return out;
}

RowBlock read_q2_k(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ2_K>(row, b / 8);
  const int j = b % 8;
  RowBlock out;
  put_k_scales(block, &out);
  std::memcpy(out.sub_scale, block.scales + 2 * j, sizeof(out.sub_scale));
  for (int l = 0; l < kBlockInputs; ++l) {
    out.q[l] = static_cast<int8_t>(quant::q2_k_value(block.qs, j, l));
  }
  return out;
}

RowBlock read_q3_k(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ3_K>(row, b / 8);
  const int j = b % 8;
  RowBlock out;
  put(out.scale, block.d);
  for (int half = 0; half < 2; ++half) {
    out.sub_scale[half] = static_cast<uint8_t>(quant::q3_k_scale(block.scales, 2 * j + half));
  }
  for (int l = 0; l < kBlockInputs; ++l) {
    out.q[l] = static_cast<int8_t>(quant::q3_k_value(block, j, l) +
                                   quant_centre(WeightForm::kNibbleSubScale));
  }
  return out;
}

RowBlock read_iq4_nl(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockIQ4_NL>(row, b);
  RowBlock out;
  put(out.scale, quant::f16_to_f32(block.d));
  split_nibbles(block.qs, out.q);
  return out;
}

/// 16-bit times 6-bit numbers are exact in float32.
RowBlock read_iq4_xs(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockIQ4_XS>(row, b / 8);
  const int k = b % 8;
  RowBlock out;
  put(out.scale, quant::f16_to_f32(block.d) * static_cast<float>(quant::iq4_xs_scale(block, k)));
  split_nibbles(block.qs + 16 * k, out.q);
  return out;
}

RowBlock read_mxfp4(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockMXFP4>(row, b);
  RowBlock out;
  put(out.scale, quant::mxfp4_scale(block.e));
  split_nibbles(block.qs, out.q);
  return out;
}

}  // namespace

BlockReader block_reader(DType type) {
  switch (type) {
    case DType::kQ4_0:
      return read_q4_0;
    case DType::kQ4_1:
      return read_q4_1;
    case DType::kQ5_0:
      return read_q5_0;
    case DType::kQ5_1:
      return read_q5_1;
    case DType::kQ8_0:
      return read_q8_0;
    case DType::kQ2_K:
      return read_q2_k;
    case DType::kQ3_K:
      return read_q3_k;
    case DType::kQ4_K:
      return read_q4_k;
    case DType::kQ5_K:
      return read_q5_k;
    case DType::kQ6_K:
      return read_q6_k;
    case DType::kIQ4_NL:
      return read_iq4_nl;
    case DType::kIQ4_XS:
      return read_iq4_xs;
    case DType::kMXFP4:
      return read_mxfp4;
    default:
      return nullptr;
  }
}

}  // namespace wl::cpu
