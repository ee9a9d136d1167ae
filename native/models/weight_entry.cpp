#include "models/weight_entry.h"

#include <cstring>

namespace wl::models {

namespace {

constexpr int kMxfp4Elems = 32;
constexpr int kMxfp4NibbleBytes = 16;

void copy_transposed(const WeightEntry& entry, uint8_t* dst) {
  const auto size = static_cast<size_t>(dtype_traits(entry.type).block_bytes);
  for (int r = 0; r < entry.rows; ++r) {
    const uint8_t* from = entry.bytes + static_cast<size_t>(r) * entry.element_stride;
    for (int c = 0; c < entry.cols; ++c, dst += size) {
      std::memcpy(dst, from + static_cast<size_t>(c) * entry.row_stride, size);
    }
  }
}

/// HF's byte k holds elements 2k (low nibble) and 2k + 1 (high); GGUF's byte j holds elements j and
/// j + 16, behind the block's scale.
void repack_mxfp4_block(uint8_t scale, const uint8_t* nibbles, uint8_t* dst) {
  *dst++ = scale;
  for (int j = 0; j < kMxfp4NibbleBytes; ++j) {
    const int shift = j % 2 == 0 ? 0 : 4;
    const int low = (nibbles[j / 2] >> shift) & 0x0f;
    const int high = (nibbles[j / 2 + kMxfp4NibbleBytes / 2] >> shift) & 0x0f;
    *dst++ = static_cast<uint8_t>(low | high << 4);
  }
}

void repack_mxfp4(const WeightEntry& entry, uint8_t* dst) {
  const auto block_bytes = dtype_traits(DType::kMXFP4).block_bytes;
  for (int r = 0; r < entry.rows; ++r) {
    const uint8_t* nibbles = entry.bytes + static_cast<size_t>(r) * entry.row_stride;
    const uint8_t* scales = entry.scales + static_cast<size_t>(r) * entry.scale_stride;
    for (int block = 0; block < entry.cols / kMxfp4Elems; ++block, dst += block_bytes) {
      repack_mxfp4_block(scales[block], nibbles + block * kMxfp4NibbleBytes, dst);
    }
  }
}

}  // namespace

bool is_plain(const WeightEntry& entry) {
  return entry.layout == WeightEntry::Layout::kRows &&
         (entry.rows == 1 || entry.row_stride == row_bytes(entry.type, entry.cols));
}

void copy_rows(const WeightEntry& entry, uint8_t* dst) {
  switch (entry.layout) {
    case WeightEntry::Layout::kTransposed:
      return copy_transposed(entry, dst);
    case WeightEntry::Layout::kMxfp4Blocks:
      return repack_mxfp4(entry, dst);
    case WeightEntry::Layout::kRows:
      break;
  }
  const size_t size = row_bytes(entry.type, entry.cols);
  for (int r = 0; r < entry.rows; ++r) {
    std::memcpy(dst + static_cast<size_t>(r) * size,
                entry.bytes + static_cast<size_t>(r) * entry.row_stride, size);
  }
}

}  // namespace wl::models
