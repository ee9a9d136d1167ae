#include "models/weight_entry.h"

#include <cstring>
#include <vector>

#include "check.h"

using wl::DType;
using wl::models::WeightEntry;

namespace {

std::vector<float> copied_floats(const WeightEntry& entry) {
  std::vector<float> out(static_cast<size_t>(entry.rows) * static_cast<size_t>(entry.cols));
  wl::models::copy_rows(entry, reinterpret_cast<uint8_t*>(out.data()));
  return out;
}

WeightEntry floats_entry(const std::vector<float>& floats, int rows, int cols) {
  WeightEntry entry;
  entry.rows = rows;
  entry.cols = cols;
  entry.bytes = reinterpret_cast<const uint8_t*>(floats.data());
  entry.row_stride = static_cast<size_t>(cols) * sizeof(float);
  return entry;
}

}  // namespace

WL_TEST("weight entry: consecutive rows are plain, every second row is copied together") {
  const std::vector<float> floats = {1, 2, 3, 4, 5, 6, 7, 8};
  WeightEntry entry = floats_entry(floats, 4, 2);
  WL_CHECK(wl::models::is_plain(entry));
  WL_CHECK(copied_floats(entry) == floats);
  entry.rows = 2;
  entry.row_stride *= 2;
  WL_CHECK(!wl::models::is_plain(entry));
  WL_CHECK((copied_floats(entry) == std::vector<float>{1, 2, 5, 6}));
}

WL_TEST("weight entry: a transposed matrix, alone or with its rows alternating with another's") {
  // [in 3, out 2], out fastest
  const std::vector<float> floats = {1, 2, 3, 4, 5, 6};
  WeightEntry entry = floats_entry(floats, 2, 3);
  entry.layout = WeightEntry::Layout::kTransposed;
  entry.row_stride = 2 * sizeof(float);
  entry.element_stride = sizeof(float);
  WL_CHECK(!wl::models::is_plain(entry));
  WL_CHECK((copied_floats(entry) == std::vector<float>{1, 3, 5, 2, 4, 6}));

  // [in 2, out 2 x 2], the second of two matrices
  const std::vector<float> both = {1, 10, 2, 20, 3, 30, 4, 40};
  WeightEntry second = floats_entry(both, 2, 2);
  second.layout = WeightEntry::Layout::kTransposed;
  second.bytes += sizeof(float);
  second.row_stride = 4 * sizeof(float);
  second.element_stride = 2 * sizeof(float);
  WL_CHECK((copied_floats(second) == std::vector<float>{10, 30, 20, 40}));
}

WL_TEST("weight entry: HF's MXFP4 blocks become GGUF's") {
  // Element i of a block has the value i % 16: HF pairs neighbours, GGUF pairs j with j + 16.
  std::vector<uint8_t> nibbles(2 * 2 * 16), scales = {120, 121, 122, 123};
  for (size_t i = 0; i < nibbles.size(); ++i) {
    const size_t low = 2 * i % 16;
    nibbles[i] = static_cast<uint8_t>(low | (low + 1) << 4);
  }
  WeightEntry entry;
  entry.type = DType::kMXFP4;
  entry.rows = 2;
  entry.cols = 64;
  entry.layout = WeightEntry::Layout::kMxfp4Blocks;
  entry.bytes = nibbles.data();
  entry.row_stride = 32;
  entry.scales = scales.data();
  entry.scale_stride = 2;
  std::vector<uint8_t> rows(entry.num_bytes());
  WL_CHECK_EQ(rows.size(), size_t{4 * 17});
  wl::models::copy_rows(entry, rows.data());
  for (size_t block = 0; block < 4; ++block) {
    WL_CHECK_EQ(rows[block * 17], scales[block]);
    for (size_t j = 0; j < 16; ++j) WL_CHECK_EQ(rows[block * 17 + 1 + j], j | j << 4);
  }
}
