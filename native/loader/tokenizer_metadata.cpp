#include "loader/tokenizer_metadata.h"

#include <optional>

#include "loader/gguf_metadata.h"

namespace wl::loader {

namespace {

constexpr const char* kPrefix = "tokenizer.ggml.";
constexpr int64_t kMaxTokenType = 6;  // 0 undefined, 1 normal ... 6 byte

class TokenizerChecker {
 public:
  TokenizerChecker(const std::map<std::string, MetaValue>& metadata, std::string file_name)
      : metadata_(metadata), file_name_(std::move(file_name)) {}

  Status check() {
    WL_RETURN_IF_ERROR(check_array("tokens", GgufType::kString));
    WL_RETURN_IF_ERROR(check_array("merges", GgufType::kString));
    WL_RETURN_IF_ERROR(check_array("scores", GgufType::kF32));
    WL_RETURN_IF_ERROR(check_array("token_type", GgufType::kI32));
    const MetaValue* tokens = find("tokens");
    num_tokens_ = tokens != nullptr ? std::get<MetaArrayS>(tokens->v).size() : 0;
    if (tokens != nullptr && num_tokens_ == 0) return fail("tokens", "is empty");
    WL_RETURN_IF_ERROR(check_lengths());
    WL_RETURN_IF_ERROR(check_token_types());
    return check_scalars();
  }

 private:
  const MetaValue* find(const std::string& suffix) const {
    const auto found = metadata_.find(kPrefix + suffix);
    return found != metadata_.end() ? &found->second : nullptr;
  }

  Error fail(const std::string& suffix, const std::string& what) const {
    return {ErrorCode::kModelFormat, file_name_ + ": " + kPrefix + suffix + " " + what};
  }

  Status check_array(const char* suffix, GgufType element) const {
    const MetaValue* value = find(suffix);
    if (value == nullptr) return {};
    const bool is_array = std::holds_alternative<MetaArrayS>(value->v) ||
                          std::holds_alternative<MetaArrayF>(value->v) ||
                          std::holds_alternative<MetaArrayI>(value->v);
    if (is_array && value->element_type == static_cast<uint32_t>(element)) return {};
    return fail(suffix, (is_array ? "is an array of value type " : "is no array but value type ") +
                            std::to_string(value->element_type) + ", expected an array of type " +
                            std::to_string(static_cast<uint32_t>(element)));
  }

  Status check_length(const char* suffix, size_t length) const {
    if (length == num_tokens_) return {};
    return fail(suffix, "has " + std::to_string(length) + " elements, the vocabulary has " +
                            std::to_string(num_tokens_) + " tokens");
  }

  Status check_lengths() const {
    if (const MetaValue* scores = find("scores")) {
      WL_RETURN_IF_ERROR(check_length("scores", std::get<MetaArrayF>(scores->v).size()));
    }
    if (const MetaValue* types = find("token_type")) {
      WL_RETURN_IF_ERROR(check_length("token_type", std::get<MetaArrayI>(types->v).size()));
    }
    return {};
  }

  Status check_token_types() const {
    const MetaValue* types = find("token_type");
    if (types == nullptr) return {};
    for (const int64_t type : std::get<MetaArrayI>(types->v)) {
      if (type < 0 || type > kMaxTokenType) {
        return fail("token_type", "holds " + std::to_string(type) + ", expected 0.." +
                                      std::to_string(kMaxTokenType));
      }
    }
    return {};
  }

  Status check_id(const std::string& suffix, int64_t id) const {
    if (id >= 0 && static_cast<uint64_t>(id) < num_tokens_) return {};
    return fail(suffix, "is " + std::to_string(id) + ", outside the vocabulary of " +
                            std::to_string(num_tokens_) + " tokens");
  }

  Status check_scalars() const {
    const std::string prefix = kPrefix;
    for (auto it = metadata_.lower_bound(prefix); it != metadata_.end(); ++it) {
      const auto& [key, value] = *it;
      if (!key.starts_with(prefix)) break;
      WL_RETURN_IF_ERROR(check_scalar(key.substr(prefix.size()), value));
    }
    const auto chat_template = metadata_.find("tokenizer.chat_template");
    if (chat_template != metadata_.end() &&
        !std::holds_alternative<std::string>(chat_template->second.v)) {
      return Error{ErrorCode::kModelFormat, file_name_ + ": tokenizer.chat_template is no string"};
    }
    return {};
  }

  Status check_scalar(const std::string& suffix, const MetaValue& value) const {
    if (suffix.ends_with("_token_id")) {
      const int64_t* id = std::get_if<int64_t>(&value.v);
      if (id == nullptr) return fail(escape_bytes(suffix), "is no integer");
      return check_id(escape_bytes(suffix), *id);
    }
    if (suffix == "suppress_tokens") {
      const MetaArrayI* ids = std::get_if<MetaArrayI>(&value.v);
      if (ids == nullptr) return fail(suffix, "is no array of integers");
      for (const int64_t id : *ids) WL_RETURN_IF_ERROR(check_id(suffix, id));
      return {};
    }
    const bool is_flag = suffix.starts_with("add_") || suffix == "remove_extra_whitespaces";
    if (is_flag && !std::holds_alternative<bool>(value.v)) return fail(suffix, "is no bool");
    const bool is_text = suffix == "model" || suffix == "pre";
    if (is_text && !std::holds_alternative<std::string>(value.v)) {
      return fail(suffix, "is no string");
    }
    return {};
  }

  const std::map<std::string, MetaValue>& metadata_;
  std::string file_name_;
  size_t num_tokens_ = 0;
};

}  // namespace

Status check_tokenizer_metadata(const std::map<std::string, MetaValue>& metadata,
                                const std::string& file_name) {
  return TokenizerChecker(metadata, file_name).check();
}

}  // namespace wl::loader
