#include "models/weight_map.h"

#include <algorithm>
#include <set>

#include "models/arch/architecture.h"
#include "models/supported_types.h"
#include "models/tensor_names.h"
#include "models/weight_specs.h"

namespace wl::models {

namespace {

using loader::TensorEntry;
using Shape = std::vector<int64_t>;
using Storage = TensorRule::Storage;

constexpr int kMxfp4Elems = 32;
constexpr int kMxfp4NibbleBytes = 16;

std::string shown_shape(const Shape& shape) {
  std::string out(1, '[');
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(shape[i]);
  }
  return out + "]";
}

/// Leading dims of 1 say nothing: [1, 64] is [64].
Shape without_leading_ones(const Shape& shape) {
  size_t first = 0;
  while (first + 1 < shape.size() && shape[first] == 1) ++first;
  return Shape(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end());
}

bool is_mxfp4_part(const TensorRule& rule) {
  return rule.storage == Storage::kMxfp4Blocks || rule.storage == Storage::kMxfp4Scales;
}

bool is_mxfp4_part(const std::string& name) {
  return name.ends_with("_blocks") || name.ends_with("_scales");
}

/// "..._blocks" to "..._scales" or back.
std::string mxfp4_partner(const std::string& name, Storage storage) {
  constexpr size_t kSuffixLength = 7;
  return name.substr(0, name.size() - kSuffixLength) +
         (storage == Storage::kMxfp4Blocks ? "_scales" : "_blocks");
}

/// One matrix or vector inside a tensor.
struct Part {
  std::string name;
  WeightSpec spec;
  int64_t expert = 0;  // of a stack
  int64_t before = 0;  // rows (elements of a vector) of the same expert in front of it
  int64_t turn = 0;    // of interleaved ones
};

/// All parts of one tensor, which have the same cols, or are vectors.
struct Cut {
  std::vector<Part> parts;
  int64_t num_experts = 1;
  int64_t num_targets = 0;  // of each expert
  int64_t total = 0;        // rows, or elements, of each expert
  int64_t cols = 0;
  bool are_vectors = false;
};

class WeightMapper {
 public:
  WeightMapper(const loader::ModelFile& file, const ModelConfig& config)
      : file_(file),
        config_(config),
        rules_(architecture_of(config).tensors),
        specs_(weight_specs(config)) {}

  WeightReading map() {
    for (const TensorEntry& tensor : file_.tensors) {
      if (is_ignorable(tensor.name) || is_rope_table(file_.container, tensor.name)) continue;
      map_tensor(tensor);
    }
    for (const auto& [name, spec] : specs_) {
      if (spec.is_required && !seen_.contains(name)) fail("tensor " + name + " is missing");
    }
    return std::move(reading_);
  }

 private:
  void fail(const std::string& message) {
    reading_.problems.push_back({ErrorCode::kModelTensor, message});
  }

  void map_tensor(const TensorEntry& tensor) {
    const auto place = place_of(file_.container, tensor.name, rules_);
    const auto cut = place ? cut_up(*place) : std::nullopt;
    if (!cut) {
      return fail("tensor " + quote_bytes(tensor.name) + " has no place in a " + config_.arch +
                  " model of " + std::to_string(config_.num_layers) + " layers");
    }
    for (const Part& part : cut->parts) {
      if (is_first(*place->rule, part.name)) continue;
      return fail("tensor " + quote_bytes(tensor.name) + " is a second " + part.name);
    }
    if (!check_type(tensor, *place->rule) || !check_shape(tensor, *place->rule, *cut)) return;
    if (place->rule->storage == Storage::kMxfp4Scales) return check_has_blocks(tensor);
    for (const Part& part : cut->parts) {
      // A tied head is the embedding, whatever copy of it the file carries.
      if (config_.is_tied && part.name == "output.weight") continue;
      add_entry(tensor, *place->rule, *cut, part);
    }
  }

  /// Scales come beside the blocks of the same weights.
  bool is_first(const TensorRule& rule, const std::string& name) {
    return rule.storage == Storage::kMxfp4Scales || seen_.insert(name).second;
  }

  /// nullopt when the decoder does not have one of the targets.
  std::optional<Cut> cut_up(const TensorPlace& place) const {
    Cut cut;
    if (place.rule->is_expert_stack) cut.num_experts = config_.moe.num_experts;
    for (int64_t expert = 0; expert < cut.num_experts; ++expert) {
      cut.total = cut.num_targets = 0;
      for (const std::string_view target : place.rule->targets) {
        if (target.empty()) break;
        const std::string name = place.target_name(
            target,
            place.rule->is_expert_stack ? std::optional(static_cast<int>(expert)) : std::nullopt);
        const auto spec = specs_.find(name);
        if (spec == specs_.end()) return std::nullopt;
        const WeightSpec& s = spec->second;
        cut.parts.push_back({name, s, expert, cut.total, cut.num_targets});
        cut.are_vectors = s.is_vector;
        cut.cols = s.cols;
        cut.total += s.is_vector ? s.cols : s.rows;
        ++cut.num_targets;
      }
    }
    if (cut.parts.empty()) return std::nullopt;
    return cut;
  }

  bool check_type(const TensorEntry& tensor, const TensorRule& rule) {
    const auto traits = dtype_traits(tensor.ggml_type);
    const bool is_plain_type = traits && traits->block_elems == 1;
    if (is_mxfp4_part(rule)) {
      const bool is_bytes = dtype_name(tensor.ggml_type) == "U8";
      if (is_bytes && dtype_traits(DType::kMXFP4).is_supported) return true;
      const char* what = is_bytes ? "MXFP4" : "not of bytes";
      reading_.problems.push_back(
          {ErrorCode::kModelType, escape_bytes(tensor.name) + " is " + what + ", not supported"});
      return false;
    }
    if (auto problem = type_problem(file_.container, tensor)) {
      reading_.problems.push_back(std::move(*problem));
      return false;
    }
    if (is_plain_type || (rule.storage == Storage::kRows && !rule.is_interleaved)) return true;
    reading_.problems.push_back(
        {ErrorCode::kModelType,
         escape_bytes(tensor.name) + " is " + traits->name + ", which cannot be cut up; use BF16"});
    return false;
  }

  bool check_shape(const TensorEntry& tensor, const TensorRule& rule, const Cut& cut) {
    Shape expected;
    if (rule.is_expert_stack) expected.push_back(cut.num_experts);
    if (cut.are_vectors) {
      expected.push_back(cut.total);
    } else if (rule.storage == Storage::kTransposed) {
      expected.insert(expected.end(), {cut.cols, cut.total});
    } else if (is_mxfp4_part(rule)) {
      expected.insert(expected.end(), {cut.total, cut.cols / kMxfp4Elems});
      if (rule.storage == Storage::kMxfp4Blocks) expected.push_back(kMxfp4NibbleBytes);
    } else {
      expected.insert(expected.end(), {cut.total, cut.cols});
    }
    const bool has_whole_blocks = !is_mxfp4_part(rule) || cut.cols % kMxfp4Elems == 0;
    if (has_whole_blocks && without_leading_ones(tensor.shape) == without_leading_ones(expected)) {
      return check_vector_blocks(tensor, cut);
    }
    fail(escape_bytes(tensor.name) + " has shape " + shown_shape(tensor.shape) +
         ", the configuration asks for " + shown_shape(expected));
    return false;
  }

  /// Vectors that share a tensor begin at whole blocks.
  bool check_vector_blocks(const TensorEntry& tensor, const Cut& cut) {
    const int block = dtype_traits(tensor.ggml_type)->block_elems;
    const bool is_whole =
        !cut.are_vectors || std::all_of(cut.parts.begin(), cut.parts.end(), [&](const Part& part) {
          return part.before % block == 0 && part.spec.cols % block == 0;
        });
    if (!is_whole) fail(escape_bytes(tensor.name) + " holds vectors that share a block");
    return is_whole;
  }

  void check_has_blocks(const TensorEntry& scales) {
    const std::string blocks = mxfp4_partner(scales.name, Storage::kMxfp4Scales);
    if (find_tensor(file_, blocks) == nullptr) {
      fail("tensor " + escape_bytes(blocks) + " is missing");
    }
  }

  void add_entry(const TensorEntry& tensor, const TensorRule& rule, const Cut& cut,
                 const Part& part) {
    WeightEntry entry;
    entry.file_name = tensor.name;
    entry.type = static_cast<DType>(tensor.ggml_type);
    entry.rows = part.spec.rows;
    entry.cols = part.spec.cols;
    if (rule.storage == Storage::kMxfp4Blocks) {
      if (!place_mxfp4(tensor, cut, part, rule.is_interleaved, &entry)) return;
    } else if (rule.storage == Storage::kTransposed && !cut.are_vectors) {
      place_transposed(tensor, cut, part, rule.is_interleaved, &entry);
    } else if (cut.are_vectors) {
      place_vector(tensor, cut, part, rule.is_interleaved, &entry);
    } else {
      place_rows(tensor, cut, part, rule.is_interleaved, &entry);
    }
    reading_.entries.emplace(part.name, std::move(entry));
  }

  /// Index of the part's first row in the tensor.
  static int64_t first_row(const Cut& cut, const Part& part, bool is_interleaved) {
    return part.expert * cut.total + (is_interleaved ? part.turn : part.before);
  }

  static void place_rows(const TensorEntry& tensor, const Cut& cut, const Part& part,
                         bool is_interleaved, WeightEntry* entry) {
    const size_t size = row_bytes(entry->type, cut.cols);
    entry->bytes = tensor.bytes + static_cast<size_t>(first_row(cut, part, is_interleaved)) * size;
    entry->row_stride = size * static_cast<size_t>(is_interleaved ? cut.num_targets : 1);
  }

  static void place_vector(const TensorEntry& tensor, const Cut& cut, const Part& part,
                           bool is_interleaved, WeightEntry* entry) {
    const int64_t first = first_row(cut, part, is_interleaved);
    entry->bytes = tensor.bytes + row_bytes(entry->type, first);
    entry->row_stride = row_bytes(entry->type, part.spec.cols);
    if (!is_interleaved) return;
    entry->layout = WeightEntry::Layout::kTransposed;  // one row, its elements apart
    entry->element_stride = row_bytes(entry->type, 1);
    entry->row_stride = entry->element_stride * static_cast<size_t>(cut.num_targets);
  }

  static void place_transposed(const TensorEntry& tensor, const Cut& cut, const Part& part,
                               bool is_interleaved, WeightEntry* entry) {
    const size_t size = row_bytes(entry->type, 1);
    const int64_t first =
        part.expert * cut.cols * cut.total + (is_interleaved ? part.turn : part.before);
    entry->layout = WeightEntry::Layout::kTransposed;
    entry->bytes = tensor.bytes + static_cast<size_t>(first) * size;
    entry->element_stride = size * static_cast<size_t>(is_interleaved ? cut.num_targets : 1);
    entry->row_stride = size * static_cast<size_t>(cut.total);
  }

  bool place_mxfp4(const TensorEntry& blocks, const Cut& cut, const Part& part, bool is_interleaved,
                   WeightEntry* entry) {
    const std::string name = mxfp4_partner(blocks.name, Storage::kMxfp4Blocks);
    const TensorEntry* scales = find_scales(name);
    const auto blocks_in_row = static_cast<size_t>(cut.cols / kMxfp4Elems);
    if (scales == nullptr || scales->num_bytes * kMxfp4NibbleBytes != blocks.num_bytes) {
      // One message a tensor, not one for each of its parts.
      if (&part == &cut.parts.front()) fail("tensor " + escape_bytes(name) + " is missing");
      return false;
    }
    const auto first = static_cast<size_t>(first_row(cut, part, is_interleaved));
    const auto step = static_cast<size_t>(is_interleaved ? cut.num_targets : 1);
    entry->type = DType::kMXFP4;
    entry->layout = WeightEntry::Layout::kMxfp4Blocks;
    entry->bytes = blocks.bytes + first * blocks_in_row * kMxfp4NibbleBytes;
    entry->row_stride = step * blocks_in_row * kMxfp4NibbleBytes;
    entry->scales = scales->bytes + first * blocks_in_row;
    entry->scale_stride = step * blocks_in_row;
    return true;
  }

  /// By name, and once for all parts of the tensor.
  const TensorEntry* find_scales(const std::string& name) {
    if (scales_name_ != name) {
      scales_name_ = name;
      scales_ = find_tensor(file_, name);
    }
    return scales_;
  }

  const loader::ModelFile& file_;
  const ModelConfig& config_;
  std::span<const TensorRule> rules_;
  const std::map<std::string, WeightSpec> specs_;
  std::set<std::string> seen_;  // names of parts, also of refused tensors: those are not missing
  std::string scales_name_;
  const TensorEntry* scales_ = nullptr;
  WeightReading reading_;
};

}  // namespace

WeightReading check_weights(const loader::ModelFile& file, const ModelConfig& config) {
  return WeightMapper(file, config).map();
}

std::vector<Error> check_types(const loader::ModelFile& file) {
  std::vector<Error> problems;
  for (const TensorEntry& tensor : file.tensors) {
    if (is_ignorable(tensor.name) || is_mxfp4_part(tensor.name)) continue;
    if (auto problem = type_problem(file.container, tensor))
      problems.push_back(std::move(*problem));
  }
  return problems;
}

Result<std::map<std::string, WeightEntry>> map_weights(const loader::ModelFile& file,
                                                       const ModelConfig& config) {
  WeightReading reading = check_weights(file, config);
  if (!reading.problems.empty()) return reading.problems.front();
  return std::move(reading.entries);
}

}  // namespace wl::models
