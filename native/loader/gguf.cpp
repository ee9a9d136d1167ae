#include "loader/gguf.h"

#include <cstring>
#include <limits>
#include <set>

#include "loader/gguf_metadata.h"
#include "loader/not_a_model.h"
#include "loader/tensor_shape.h"

namespace wl::loader {

namespace {

constexpr uint64_t kMinMetadataBytes = 8 + 1 + 4 + 1;        // key of 1 byte, type, u8
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;  // name of 1 byte, one dim
constexpr uint64_t kMaxMetadata = 1 << 16;                   // far above any real file
constexpr uint64_t kMaxTensors = 1 << 20;
constexpr uint64_t kMaxTensorNameBytes = 63;
constexpr uint32_t kDefaultAlignment = 32;
constexpr uint32_t kMaxDims = 4;

std::optional<DTypeTraits> traits_in_gguf(uint32_t type) {
  return type < kSafetensorsOnly ? dtype_traits(type) : std::nullopt;
}

class GgufParser : public GgufSection {
 public:
  GgufParser(std::span<const uint8_t> bytes, const std::string& name)
      : GgufSection(ByteReader(bytes), name), bytes_(bytes), name_(name) {}

  Result<GgufContents> parse() {
    if (!parse_preamble()) return error();
    GgufMetadataParser metadata(reader_, name_);
    if (!metadata.parse(num_metadata_)) return metadata.error();
    contents_.metadata = std::move(metadata.metadata());
    reader_ = metadata.reader();
    if (!parse_tensor_table() || !place_tensors()) return error();
    return std::move(contents_);
  }

 private:
  bool parse_preamble() {
    if (!has_gguf_magic(bytes_)) {
      const auto known = describe_non_model(bytes_);
      return fail(
          ErrorCode::kModelFile,
          known ? *known : "is not a GGUF file: it begins with " + quote_first_bytes(bytes_));
    }
    uint32_t magic = 0, version = 0;
    if (!reader_.read(&magic) || !reader_.read(&version)) return fail_short("the version");
    if (version != 0 && (version & 0xffff) == 0) {
      return fail(ErrorCode::kModelFile,
                  "is a big-endian GGUF file; this build reads little-endian ones");
    }
    if (version < 2 || version > 3) {
      return fail(ErrorCode::kModelFile, "has GGUF version " + std::to_string(version) +
                                             "; this build reads versions 2 and 3");
    }
    if (!reader_.read(&num_tensors_) || !reader_.read(&num_metadata_)) {
      return fail_short("the header");
    }
    return check_count(num_tensors_, kMaxTensors, kMinTensorBytes, "tensors") &&
           check_count(num_metadata_, kMaxMetadata, kMinMetadataBytes, "metadata entries");
  }

  bool check_count(uint64_t count, uint64_t max_count, uint64_t min_bytes, const char* what) {
    if (count <= max_count && count <= reader_.remaining() / min_bytes) return true;
    return fail_format("claims " + std::to_string(count) + " " + what + ", which cannot fit in " +
                       std::to_string(bytes_.size()) + " bytes");
  }

  bool parse_tensor_table() {
    std::set<std::string> names;
    for (uint64_t i = 0; i < num_tensors_; ++i) {
      TensorEntry tensor;
      if (!parse_tensor_info(&tensor)) return false;
      if (!names.insert(tensor.name).second) {
        return fail_format("has the tensor " + quote_bytes(tensor.name) + " twice");
      }
      contents_.tensors.push_back(std::move(tensor));
    }
    return true;
  }

  bool parse_tensor_info(TensorEntry* tensor) {
    uint32_t num_dims = 0;
    if (!reader_.read_string(&tensor->name)) return fail_short("a tensor's name");
    if (!is_readable_name(tensor->name) || tensor->name.size() > kMaxTensorNameBytes) {
      return fail_format("has an empty, unreadable or too long tensor name " +
                         quote_bytes(tensor->name));
    }
    if (!reader_.read(&num_dims)) return fail_short("tensor " + quote_bytes(tensor->name));
    if (num_dims < 1 || num_dims > kMaxDims) {
      return fail_format("tensor " + quote_bytes(tensor->name) + " has " +
                         std::to_string(num_dims) + " dimensions");
    }
    tensor->shape.resize(num_dims);
    for (uint32_t i = 0; i < num_dims; ++i) {  // fast to slow in the file
      uint64_t dim = 0;
      if (!reader_.read(&dim)) return fail_short("tensor " + quote_bytes(tensor->name));
      if (dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return fail_format("tensor " + quote_bytes(tensor->name) + " has a dimension of " +
                           std::to_string(dim));
      }
      tensor->shape[num_dims - 1 - i] = static_cast<int64_t>(dim);
    }
    uint64_t offset = 0;
    if (!reader_.read(&tensor->ggml_type) || !reader_.read(&offset)) {
      return fail_short("tensor " + quote_bytes(tensor->name));
    }
    offsets_.push_back(offset);
    return measure_tensor(tensor);
  }

  bool measure_tensor(TensorEntry* tensor) {
    const auto traits = traits_in_gguf(tensor->ggml_type);
    if (!traits) {
      return fail(ErrorCode::kModelType, "tensor " + quote_bytes(tensor->name) + " has " +
                                             dtype_name(tensor->ggml_type) +
                                             "; re-convert the file");
    }
    const auto num_elements = checked_num_elements(tensor->shape);
    if (!num_elements) {
      return fail_format("tensor " + quote_bytes(tensor->name) + " has more elements than 2^63");
    }
    if (tensor->shape.back() % traits->block_elems != 0) {
      return fail_format("tensor " + quote_bytes(tensor->name) + " has rows of " +
                         std::to_string(tensor->shape.back()) + ", not whole " + traits->name +
                         " blocks of " + std::to_string(traits->block_elems));
    }
    const auto num_blocks = static_cast<uint64_t>(*num_elements / traits->block_elems);
    if (num_blocks > bytes_.size() / static_cast<uint64_t>(traits->block_bytes)) {
      return fail_format("is truncated or damaged: tensor " + quote_bytes(tensor->name) +
                         " is larger than the file's " + std::to_string(bytes_.size()) + " bytes");
    }
    tensor->num_bytes =
        static_cast<size_t>(num_blocks * static_cast<uint64_t>(traits->block_bytes));
    return true;
  }

  bool read_alignment(uint64_t* out) {
    *out = kDefaultAlignment;
    const auto found = contents_.metadata.find("general.alignment");
    if (found == contents_.metadata.end()) return true;
    const int64_t* value = std::get_if<int64_t>(&found->second.v);
    const bool is_u32 = found->second.element_type == static_cast<uint32_t>(GgufType::kU32);
    if (value == nullptr || !is_u32 || *value < 1 || (*value & (*value - 1)) != 0) {
      return fail_format("general.alignment is not a power of two (u32)");
    }
    *out = static_cast<uint64_t>(*value);
    return true;
  }

  /// Points every tensor at its bytes: offsets must be the running padded sum, so that tensors
  /// neither overlap nor leave holes.
  bool place_tensors() {
    uint64_t alignment = 0;
    if (!read_alignment(&alignment)) return false;
    const auto pad = [&](uint64_t n) { return (n + alignment - 1) & ~(alignment - 1); };
    const uint64_t data_start = pad(reader_.position());
    uint64_t running = 0;
    for (size_t i = 0; i < contents_.tensors.size(); ++i) {
      TensorEntry& tensor = contents_.tensors[i];
      if (offsets_[i] != running) {
        return fail_format("tensor " + quote_bytes(tensor.name) + " is at offset " +
                           std::to_string(offsets_[i]) + ", expected " + std::to_string(running) +
                           ": overlapping, misaligned or out of order");
      }
      const uint64_t end = data_start + running + tensor.num_bytes;
      if (end > bytes_.size()) {
        return fail_format("is truncated: tensor " + quote_bytes(tensor.name) + " ends at byte " +
                           std::to_string(end) + ", the file has " + std::to_string(bytes_.size()) +
                           " bytes");
      }
      tensor.bytes = bytes_.data() + data_start + running;
      running = pad(running + tensor.num_bytes);
    }
    return true;
  }

  std::span<const uint8_t> bytes_;
  std::string name_;
  uint64_t num_tensors_ = 0;
  uint64_t num_metadata_ = 0;
  std::vector<uint64_t> offsets_;  // beside contents_.tensors
  GgufContents contents_;
};

}  // namespace

bool has_gguf_magic(std::span<const uint8_t> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0;
}

Result<GgufContents> parse_gguf(std::span<const uint8_t> bytes, const std::string& name) {
  return GgufParser(bytes, name).parse();
}

}  // namespace wl::loader
