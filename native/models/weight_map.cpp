#include "models/weight_map.h"

#include <algorithm>
#include <set>

#include "models/arch/architecture.h"
#include "models/supported_types.h"
#include "models/tensor_cut.h"
#include "models/tensor_names.h"
#include "models/weight_specs.h"

namespace wl::models {

namespace {

using loader::TensorEntry;
using Shape = std::vector<int64_t>;
using Storage = TensorRule::Storage;

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
    for (const TensorPart& part : cut->parts) {
      if (is_first(*place->rule, part.name)) continue;
      return fail("tensor " + quote_bytes(tensor.name) + " is a second " + part.name);
    }
    if (!check_type(tensor, *place->rule) || !check_shape(tensor, *place->rule, *cut)) return;
    if (place->rule->storage == Storage::kMxfp4Scales) return check_has_blocks(tensor);
    for (const TensorPart& part : cut->parts) {
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
  std::optional<TensorCut> cut_up(const TensorPlace& place) const {
    TensorCut cut;
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

  bool check_shape(const TensorEntry& tensor, const TensorRule& rule, const TensorCut& cut) {
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
  bool check_vector_blocks(const TensorEntry& tensor, const TensorCut& cut) {
    const int block = dtype_traits(tensor.ggml_type)->block_elems;
    const bool is_whole =
        !cut.are_vectors ||
        std::all_of(cut.parts.begin(), cut.parts.end(), [&](const TensorPart& part) {
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

  void add_entry(const TensorEntry& tensor, const TensorRule& rule, const TensorCut& cut,
                 const TensorPart& part) {
    const bool is_mxfp4 = rule.storage == Storage::kMxfp4Blocks;
    const TensorEntry* scales = is_mxfp4 ? scales_of(tensor, cut, part) : nullptr;
    if (is_mxfp4 && scales == nullptr) return;
    reading_.entries.emplace(part.name, place_part(tensor, scales, rule, cut, part));
  }

  /// nullptr, and a problem, when there are none that fit.
  const TensorEntry* scales_of(const TensorEntry& blocks, const TensorCut& cut,
                               const TensorPart& part) {
    const std::string name = mxfp4_partner(blocks.name, Storage::kMxfp4Blocks);
    const TensorEntry* scales = find_scales(name);
    if (scales != nullptr && scales->num_bytes * kMxfp4NibbleBytes == blocks.num_bytes) {
      return scales;
    }
    // One message a tensor, not one for each of its parts.
    if (&part == &cut.parts.front()) fail("tensor " + escape_bytes(name) + " is missing");
    return nullptr;
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
