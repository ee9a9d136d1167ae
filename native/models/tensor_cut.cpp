#include "models/tensor_cut.h"

namespace wl::models {

namespace {

using loader::TensorEntry;
using Storage = TensorRule::Storage;

/// Index of the part's first row in the tensor.
int64_t first_row(const TensorCut& cut, const TensorPart& part, bool is_interleaved) {
  return part.expert * cut.total + (is_interleaved ? part.turn : part.before);
}

void place_rows(const TensorEntry& tensor, const TensorCut& cut, const TensorPart& part,
                bool is_interleaved, WeightEntry* entry) {
  const size_t size = row_bytes(entry->type, cut.cols);
  entry->bytes = tensor.bytes + static_cast<size_t>(first_row(cut, part, is_interleaved)) * size;
  entry->row_stride = size * static_cast<size_t>(is_interleaved ? cut.num_targets : 1);
}

void place_vector(const TensorEntry& tensor, const TensorCut& cut, const TensorPart& part,
                  bool is_interleaved, WeightEntry* entry) {
  const int64_t first = first_row(cut, part, is_interleaved);
  entry->bytes = tensor.bytes + row_bytes(entry->type, first);
  entry->row_stride = row_bytes(entry->type, part.spec.cols);
  if (!is_interleaved) return;
  entry->layout = WeightEntry::Layout::kTransposed;  // one row, its elements apart
  entry->element_stride = row_bytes(entry->type, 1);
  entry->row_stride = entry->element_stride * static_cast<size_t>(cut.num_targets);
}

void place_transposed(const TensorEntry& tensor, const TensorCut& cut, const TensorPart& part,
                      bool is_interleaved, WeightEntry* entry) {
  const size_t size = row_bytes(entry->type, 1);
  const int64_t first =
      part.expert * cut.cols * cut.total + (is_interleaved ? part.turn : part.before);
  entry->layout = WeightEntry::Layout::kTransposed;
  entry->bytes = tensor.bytes + static_cast<size_t>(first) * size;
  entry->element_stride = size * static_cast<size_t>(is_interleaved ? cut.num_targets : 1);
  entry->row_stride = size * static_cast<size_t>(cut.total);
}

void place_mxfp4(const TensorEntry& blocks, const TensorEntry& scales, const TensorCut& cut,
                 const TensorPart& part, bool is_interleaved, WeightEntry* entry) {
  const auto blocks_in_row = static_cast<size_t>(cut.cols / kMxfp4Elems);
  const auto first = static_cast<size_t>(first_row(cut, part, is_interleaved));
  const auto step = static_cast<size_t>(is_interleaved ? cut.num_targets : 1);
  entry->type = DType::kMXFP4;
  entry->layout = WeightEntry::Layout::kMxfp4Blocks;
  entry->bytes = blocks.bytes + first * blocks_in_row * kMxfp4NibbleBytes;
  entry->row_stride = step * blocks_in_row * kMxfp4NibbleBytes;
  entry->scales = scales.bytes + first * blocks_in_row;
  entry->scale_stride = step * blocks_in_row;
}

}  // namespace

WeightEntry place_part(const TensorEntry& tensor, const TensorEntry* scales, const TensorRule& rule,
                       const TensorCut& cut, const TensorPart& part) {
  WeightEntry entry;
  entry.file_name = tensor.name;
  entry.type = static_cast<DType>(tensor.ggml_type);
  entry.rows = part.spec.rows;
  entry.cols = part.spec.cols;
  if (scales != nullptr) {
    place_mxfp4(tensor, *scales, cut, part, rule.is_interleaved, &entry);
  } else if (rule.storage == Storage::kTransposed && !cut.are_vectors) {
    place_transposed(tensor, cut, part, rule.is_interleaved, &entry);
  } else if (cut.are_vectors) {
    place_vector(tensor, cut, part, rule.is_interleaved, &entry);
  } else {
    place_rows(tensor, cut, part, rule.is_interleaved, &entry);
  }
  return entry;
}

}  // namespace wl::models
