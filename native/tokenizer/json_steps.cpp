#include "tokenizer/json_steps.h"

#include <algorithm>

#include "tokenizer/pre_tokenizers.h"

namespace wl::tokenizer {

namespace {

const JsonValue kNull;

// What a text costs is bounded by its length: no chain of steps makes it longer without end. Real
// files stay below: two rewrites, four splits, a space that becomes the three bytes of U+2581.
constexpr size_t kMaxSteps = 16;  // of rewriting, of splitting
constexpr size_t kMaxGrowth = 3;  // times; 1 GiB then keeps within offsets of 32 bits
constexpr size_t kMaxAddedBytes = 16;

const JsonValue& member(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value != nullptr ? *value : kNull;
}

std::string text_of(const JsonValue& object, std::string_view key) {
  const std::string* text = member(object, key).as_string();
  return text != nullptr ? *text : std::string();
}

bool flag_of(const JsonValue& object, std::string_view key, bool absent) {
  return member(object, key).as_bool().value_or(absent);
}

/// The elements of a `Sequence`, under the name that its kind of part uses.
const JsonArray& parts_of(const JsonValue& sequence, std::string_view key) {
  static const auto& kEmpty = *new JsonArray();
  const JsonArray* parts = member(sequence, key).as_array();
  return parts != nullptr ? *parts : kEmpty;
}

std::string escaped_pattern(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    const bool is_special = std::string_view("\\.()[]{}?*+^$|-&").find(c) != std::string_view::npos;
    if (is_special) pattern.push_back('\\');
    pattern.push_back(c);
  }
  return pattern;
}

class StepReader {
 public:
  Result<TextSteps> read(const JsonValue& normalizer, const JsonValue& pre_tokenizer) {
    WL_RETURN_IF_ERROR(read_normalizer(normalizer));
    WL_RETURN_IF_ERROR(read_pre_tokenizer(pre_tokenizer));
    return std::move(steps_);
  }

 private:
  static Error unsupported(const char* part, const std::string& what) {
    return {ErrorCode::kTokenizerType, std::string(part) + " " + what + " is not supported"};
  }

  Status read_normalizer(const JsonValue& step) {
    if (step.is_null()) return {};
    const std::string type = text_of(step, "type");
    if (type == "Sequence") {
      for (const JsonValue& part : parts_of(step, "normalizers")) {
        WL_RETURN_IF_ERROR(read_normalizer(part));
      }
      return {};
    }
    if (type == "NFC" && steps_.rewrites.empty()) {
      steps_.needs_nfc = true;
      return {};
    }
    if (type == "Prepend") {
      return add_rewrite({.kind = RewriteStep::Kind::kPrepend, .text = text_of(step, "prepend")});
    }
    const std::string from = text_of(member(step, "pattern"), "String");
    if (type != "Replace" || from.empty()) return unsupported("normalizer", quote_bytes(type));
    return add_rewrite(
        {.kind = RewriteStep::Kind::kReplace, .text = from, .by = text_of(step, "content")});
  }

  Status read_pre_tokenizer(const JsonValue& step) {
    if (step.is_null()) return {};
    const std::string type = text_of(step, "type");
    if (type == "Sequence") {
      for (const JsonValue& part : parts_of(step, "pretokenizers")) {
        WL_RETURN_IF_ERROR(read_pre_tokenizer(part));
      }
      return {};
    }
    // Behind it the text is spelled in the byte alphabet, which no later step here knows.
    if (steps_.is_byte_level)
      return unsupported("pre-tokenizer behind ByteLevel", quote_bytes(type));
    if (type == "ByteLevel") return read_byte_level(step);
    if (type == "Metaspace") return read_metaspace(step);
    if (type == "Split") return read_split(step);
    if (type == "Digits") {
      const bool alone = flag_of(step, "individual_digits", false);
      return add_split("\\p{N}", alone ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
    }
    if (type == "Punctuation") {
      const auto behavior = read_behavior(step);
      if (!behavior) return unsupported("behavior", quote_bytes(text_of(step, "behavior")));
      return add_split("[\\p{P}$+<=>\\^`|~]", *behavior);
    }
    return unsupported("pre-tokenizer", quote_bytes(type));
  }

  Status read_byte_level(const JsonValue& step) {
    if (flag_of(step, "add_prefix_space", true)) {
      if (!steps_.splits.empty())
        return unsupported("ByteLevel", "add_prefix_space behind a split");
      WL_RETURN_IF_ERROR(add_rewrite({.kind = RewriteStep::Kind::kPrependIfAbsent, .text = " "}));
    }
    if (flag_of(step, "use_regex", true)) {
      WL_RETURN_IF_ERROR(add_split(kGpt2Pattern, SplitBehavior::kIsolated));
    }
    steps_.is_byte_level = true;
    return {};
  }

  Status read_metaspace(const JsonValue& step) {
    if (!steps_.splits.empty()) return unsupported("pre-tokenizer", "Metaspace behind a split");
    const std::string mark = text_of(step, "replacement");
    if (mark != kSpaceMark) return unsupported("Metaspace", "with another mark than U+2581");
    const bool adds_prefix = flag_of(step, "add_prefix_space", true);
    const std::string scheme = step.find("prepend_scheme") != nullptr
                                   ? text_of(step, "prepend_scheme")
                               : adds_prefix ? "always"
                                             : "never";
    WL_RETURN_IF_ERROR(add_rewrite({.kind = RewriteStep::Kind::kReplace, .text = " ", .by = mark}));
    if (scheme != "never") {
      WL_RETURN_IF_ERROR(add_rewrite({.kind = RewriteStep::Kind::kPrependIfAbsent,
                                      .text = mark,
                                      .only_at_start = scheme == "first"}));
    }
    if (!flag_of(step, "split", true)) return {};
    return add_split(mark, SplitBehavior::kMergedWithNext);
  }

  Status read_split(const JsonValue& step) {
    const JsonValue& pattern = member(step, "pattern");
    const std::string* expression = member(pattern, "Regex").as_string();
    const std::string* literal = member(pattern, "String").as_string();
    const auto behavior = read_behavior(step);
    if (!behavior) return unsupported("behavior", quote_bytes(text_of(step, "behavior")));
    if (expression == nullptr && literal == nullptr) {
      return Error{ErrorCode::kTokenizerFormat, "a Split has no pattern"};
    }
    return add_split(expression != nullptr ? *expression : escaped_pattern(*literal), *behavior,
                     flag_of(step, "invert", false));
  }

  static std::optional<SplitBehavior> read_behavior(const JsonValue& step) {
    const std::string name = text_of(step, "behavior");
    if (name == "Isolated") return SplitBehavior::kIsolated;
    if (name == "Removed") return SplitBehavior::kRemoved;
    if (name == "Contiguous") return SplitBehavior::kContiguous;
    if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
    if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
    return std::nullopt;
  }

  Status add_split(std::string_view expression, SplitBehavior behavior, bool is_inverted = false) {
    if (steps_.splits.size() == kMaxSteps) return unsupported("pre-tokenizer", "with more splits");
    auto pattern = Pattern::compile(expression);
    if (!pattern.ok()) return pattern.error();
    steps_.splits.push_back({std::move(pattern).value(), behavior, is_inverted});
    return {};
  }

  Status add_rewrite(RewriteStep step) {
    if (step.kind == RewriteStep::Kind::kReplace) {
      const size_t times = (step.by.size() + step.text.size() - 1) / step.text.size();
      growth_ *= std::clamp<size_t>(times, 1, kMaxGrowth + 1);
    } else {
      added_bytes_ += step.text.size();
    }
    if (growth_ > kMaxGrowth || added_bytes_ > kMaxAddedBytes) {
      return unsupported("normalizer", "that makes any text much longer");
    }
    if (steps_.rewrites.size() == kMaxSteps) return unsupported("normalizer", "with more steps");
    steps_.rewrites.push_back(std::move(step));
    return {};
  }

  TextSteps steps_;
  size_t growth_ = 1;
  size_t added_bytes_ = 0;
};

}  // namespace

Result<TextSteps> read_text_steps(const JsonValue& normalizer, const JsonValue& pre_tokenizer) {
  return StepReader().read(normalizer, pre_tokenizer);
}

std::optional<std::string> bos_of_post_processor(const JsonValue& post_processor) {
  const std::string type = text_of(post_processor, "type");
  if (type == "Sequence") {
    for (const JsonValue& part : parts_of(post_processor, "processors")) {
      if (auto bos = bos_of_post_processor(part)) return bos;
    }
    return std::nullopt;
  }
  const JsonArray& parts = parts_of(post_processor, "single");
  if (type != "TemplateProcessing" || parts.empty()) return std::nullopt;
  const std::string* id = member(member(parts.front(), "SpecialToken"), "id").as_string();
  return id != nullptr ? std::optional(*id) : std::nullopt;
}

bool decodes_byte_level(const JsonValue& decoder) {
  for (const JsonValue& part : parts_of(decoder, "decoders")) {
    if (decodes_byte_level(part)) return true;
  }
  return text_of(decoder, "type") == "ByteLevel";
}

bool strips_leading_space(const JsonValue& decoder) {
  for (const JsonValue& part : parts_of(decoder, "decoders")) {
    if (strips_leading_space(part)) return true;
  }
  const std::string type = text_of(decoder, "type");
  if (type == "Metaspace") return text_of(decoder, "prepend_scheme") != "never";
  return type == "Strip" && text_of(decoder, "content") == " " &&
         member(decoder, "start").as_int() == 1;
}

}  // namespace wl::tokenizer
