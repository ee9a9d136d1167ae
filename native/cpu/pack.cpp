#include "cpu/pack.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/nibble_values.h"
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
using backend::kPanelRows;
using backend::RecordLayout;
using backend::WeightForm;
using backend::WeightSource;

namespace {

/// 32 inputs of one row, on their way from a file block to a record.
struct RowBlock {
  uint8_t scale[4] = {};  // f16 or f32, as the form wants it
  uint8_t min[4] = {};
  uint8_t sub_scale[2] = {};
  int8_t q[kBlockInputs] = {};  // the integers that are stored
};

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

/// Scale and min of sub-block j of a K super-block: 16-bit times 6-bit numbers, exact in float32.
template <class Block>
void put_k_scales(const Block& block, int j, RowBlock* out) {
  uint8_t scale, min;
  quant::scale_min_k4(j, block.scales, &scale, &min);
  put(out->scale, quant::f16_to_f32(block.d) * static_cast<float>(scale));
  put(out->min, -(quant::f16_to_f32(block.dmin) * static_cast<float>(min)));
}

RowBlock read_q4_k(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ4_K>(row, b / 8);
  const int j = b % 8;
  RowBlock out;
  put_k_scales(block, j, &out);
  for (int l = 0; l < kBlockInputs; ++l) {
    const uint8_t byte = block.qs[32 * (j / 2) + l];
    out.q[l] = static_cast<int8_t>(j % 2 == 0 ? byte & 15 : byte >> 4);
  }
  return out;
}

RowBlock read_q5_k(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ5_K>(row, b / 8);
  const int j = b % 8;
  RowBlock out;
  put_k_scales(block, j, &out);
  for (int l = 0; l < kBlockInputs; ++l) {
    const uint8_t byte = block.qs[32 * (j / 2) + l];
    const int low = j % 2 == 0 ? byte & 15 : byte >> 4;
    out.q[l] = static_cast<int8_t>(low | (block.qh[l] >> j & 1) << 4);
  }
  return out;
}

RowBlock read_q6_k(const uint8_t* row, int b) {
  const auto block = read_block<quant::BlockQ6_K>(row, b / 8);
  const int n = b % 8 / 4, g = b % 4;
  RowBlock out;
  put(out.scale, quant::f16_to_f32(block.d));
  std::memcpy(out.sub_scale, block.scales + 8 * n + 2 * g, sizeof(out.sub_scale));
  for (int l = 0; l < kBlockInputs; ++l) {
    out.q[l] = static_cast<int8_t>(quant::q6_k_value(block, n, g, l));
  }
  return out;
}

RowBlock read_q2_k(const uint8_t* row, int b) {
  constexpr uint16_t kSign = 0x8000;
  const auto block = read_block<quant::BlockQ2_K>(row, b / 8);
  const int j = b % 8;
  RowBlock out;
  put(out.scale, block.d);
  put(out.min, static_cast<uint16_t>(block.dmin ^ kSign));  // the offset is subtracted
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
                                   nibble_centre(WeightForm::kNibbleSubScale));
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

using BlockReader = RowBlock (*)(const uint8_t* row, int b);

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

/// Writes one row's block into its lane of a zeroed record.
void put_row_block(const RowBlock& block, const RecordLayout& layout, int lane, uint8_t* record) {
  const size_t scale_bytes = static_cast<size_t>(layout.scale_bytes);
  std::memcpy(record + scale_bytes * lane, block.scale, scale_bytes);
  if (layout.has_min) {
    std::memcpy(record + layout.min_offset() + scale_bytes * lane, block.min, scale_bytes);
  }
  if (layout.sub_scale != backend::SubScale::kNone) {
    for (int half = 0; half < 2; ++half) {
      record[layout.sub_scale_offset() + half * kPanelRows + lane] = block.sub_scale[half];
    }
  }
  uint8_t* quants = record + layout.quant_offset() + 2 * lane;
  for (int k = 0; k < kBlockInputs; ++k) {
    if (layout.is_nibble) {
      quants[k / 4 * 32 + k % 2] |= static_cast<uint8_t>(block.q[k] << (k % 4 < 2 ? 0 : 4));
    } else {
      quants[k / 2 * 32 + k % 2] = static_cast<uint8_t>(block.q[k]);
    }
  }
}

void pack_quantized(const WeightSource& source, WeightForm form, int first_row, int num_rows,
                    uint8_t* out) {
  const RecordLayout layout = backend::record_layout(form);
  const size_t bytes = static_cast<size_t>(backend::record_bytes(form));
  const BlockReader read = block_reader(source.type);
  const size_t source_row = row_bytes(source.type, source.cols);
  for (int b = 0; b < source.cols / kBlockInputs; ++b) {
    for (int lane = 0; lane < num_rows; ++lane) {
      const uint8_t* row = source.bytes + static_cast<size_t>(first_row + lane) * source_row;
      put_row_block(read(row, b), layout, lane, out + static_cast<size_t>(b) * bytes);
    }
  }
}

/// F16 and BF16 keep their 16 bits.
void pack_half(const WeightSource& source, int first_row, int num_rows, uint8_t* out) {
  for (int lane = 0; lane < num_rows; ++lane) {
    const uint8_t* row =
        source.bytes + static_cast<size_t>(first_row + lane) * row_bytes(source.type, source.cols);
    for (int k = 0; k < source.cols; ++k) {
      std::memcpy(out + (static_cast<size_t>(k) * kPanelRows + lane) * 2, row + 2 * k, 2);
    }
  }
}

void pack_float(const WeightSource& source, int first_row, int num_rows, uint8_t* out) {
  std::vector<float> row(static_cast<size_t>(source.cols));
  for (int lane = 0; lane < num_rows; ++lane) {
    const size_t bytes = row_bytes(source.type, source.cols);
    quant::dequantize(source.type, source.bytes + static_cast<size_t>(first_row + lane) * bytes,
                      source.cols, row.data());
    for (int k = 0; k < source.cols; ++k) {
      put(out + (static_cast<size_t>(k) * kPanelRows + lane) * 4, row[static_cast<size_t>(k)]);
    }
  }
}

}  // namespace

std::optional<WeightForm> packed_form(DType type) {
  switch (type) {
    case DType::kF32:
      return WeightForm::kF32;
    case DType::kF16:
      return WeightForm::kF16;
    case DType::kBF16:
      return WeightForm::kBF16;
    case DType::kQ4_0:
      return WeightForm::kNibble;
    case DType::kQ4_1:
      return WeightForm::kNibbleMin;
    case DType::kQ4_K:
      return WeightForm::kNibbleMinWide;
    case DType::kQ5_0:
    case DType::kQ8_0:
      return WeightForm::kByte;
    case DType::kQ5_1:
      return WeightForm::kByteMin;
    case DType::kQ5_K:
      return WeightForm::kByteMinWide;
    case DType::kQ6_K:
      return WeightForm::kByteSubScale;
    case DType::kQ3_K:
      return WeightForm::kNibbleSubScale;
    case DType::kQ2_K:
      return WeightForm::kNibbleSubScaleMin;
    case DType::kIQ4_NL:
    case DType::kIQ4_XS:
      return WeightForm::kNibbleIq4;
    case DType::kMXFP4:
      return WeightForm::kNibbleFp4;
    default:
      return std::nullopt;
  }
}

void pack_panel(const WeightSource& source, WeightForm form, int panel, uint8_t* out) {
  const backend::Weight shape{form, source.rows, source.cols, out};
  std::memset(out, 0, shape.panel_bytes());
  const int first_row = panel * kPanelRows;
  const int num_rows = std::min(kPanelRows, source.rows - first_row);
  if (form == WeightForm::kF32) {
    pack_float(source, first_row, num_rows, out);
  } else if (!backend::is_quantized(form)) {
    pack_half(source, first_row, num_rows, out);
  } else {
    pack_quantized(source, form, first_row, num_rows, out);
  }
}

}  // namespace wl::cpu
