#pragma once
// One matrix or vector of the decoder, where it lies in the mapped file. Checkpoints store some of
// them fused, stacked, transposed or with the nibbles of MXFP4 in another order; an entry says how
// to find the elements, and copy_rows() puts them into plain rows.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/dtype.h"

namespace wl::models {

struct WeightEntry {
  enum class Layout {
    kRows,         // row r: contiguous at bytes + r * row_stride
    kTransposed,   // element [r][c] at bytes + c * row_stride + r * element_stride; F32, F16, BF16
    kMxfp4Blocks,  // HF's MXFP4: row r of nibbles at bytes + r * row_stride, 16 bytes a block, and
                   // of scales at scales + r * scale_stride, one byte a block
  };

  std::string file_name;  // as the file calls the tensor, for messages
  DType type = DType::kF32;
  int rows = 0;  // 1: a vector
  int cols = 0;
  Layout layout = Layout::kRows;
  const uint8_t* bytes = nullptr;
  size_t row_stride = 0;      // bytes
  size_t element_stride = 0;  // bytes, kTransposed only
  const uint8_t* scales = nullptr;
  size_t scale_stride = 0;  // bytes

  /// Of the matrix as plain rows.
  size_t num_bytes() const { return static_cast<size_t>(rows) * row_bytes(type, cols); }
};

/// Whether `bytes` are plain consecutive rows already.
bool is_plain(const WeightEntry& entry);

/// Writes the matrix as plain consecutive rows of `type`, GGUF's block layout: num_bytes() bytes.
void copy_rows(const WeightEntry& entry, uint8_t* dst);

}  // namespace wl::models
