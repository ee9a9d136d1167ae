#include "cpu/pack.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/block_readers.h"
#include "quant/dequantize.h"

namespace wl::cpu {

using backend::kBlockInputs;
using backend::kPanelRows;
using backend::Quants;
using backend::RecordLayout;
using backend::WeightForm;
using backend::WeightSource;

namespace {

void put_nibbles(const int8_t* q, uint8_t* out) {
  for (int k = 0; k < kBlockInputs; ++k) {
    out[k / 4 * 32 + k % 2] |= static_cast<uint8_t>(q[k] << (k % 4 < 2 ? 0 : 4));
  }
}

void put_six_bits(const int8_t* q, uint8_t* out) {
  for (int half = 0; half < 2; ++half) {
    for (int parity = 0; parity < 2; ++parity) {
      const int8_t* first = q + 16 * half + parity;  // every other input from here
      const int k12 = first[12], k14 = first[14];
      const int middle[3] = {k12 & 15, k14 & 15, k12 >> 4 | k14 >> 4 << 2};
      for (int run = 0; run < 3; ++run) {
        const int bits = first[4 * run] | middle[run] << 6 | first[4 * run + 2] << 10;
        const uint16_t word = static_cast<uint16_t>(bits);
        std::memcpy(out + (3 * half + run) * 64 + 2 * parity, &word, sizeof(word));
      }
    }
  }
}

void put_bytes(const int8_t* q, uint8_t* out) {
  for (int k = 0; k < kBlockInputs; ++k) out[k / 2 * 32 + k % 2] = static_cast<uint8_t>(q[k]);
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
  uint8_t* quants = record + layout.quant_offset();
  if (layout.quants == Quants::kNibble) {
    put_nibbles(block.q, quants + 2 * lane);
  } else if (layout.quants == Quants::kSixBit) {
    put_six_bits(block.q, quants + 4 * lane);
  } else {
    put_bytes(block.q, quants + 2 * lane);
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
      std::memcpy(out + (static_cast<size_t>(k) * kPanelRows + lane) * 4,
                  &row[static_cast<size_t>(k)], sizeof(float));
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
      return WeightForm::kNibbleBlockScale;
    case DType::kQ5_0:
    case DType::kQ8_0:
      return WeightForm::kByte;
    case DType::kQ5_1:
      return WeightForm::kByteMin;
    case DType::kQ5_K:
      return WeightForm::kByteBlockScale;
    case DType::kQ6_K:
      return WeightForm::kSixBitSubScale;
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
