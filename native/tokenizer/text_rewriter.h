#pragma once
// What happens to text before it is split: SentencePiece writes spaces as U+2581 and puts one in
// front.

#include <string>
#include <string_view>
#include <vector>

namespace wl::tokenizer {

constexpr std::string_view kSpaceMark = "\xe2\x96\x81";  // U+2581

/// Appends `text` with every `from` replaced by `to`.
void append_replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::string* out);

struct RewriteStep {
  enum class Kind {
    kPrepend,          // `text` in front
    kPrependIfAbsent,  // `text` in front unless it is there
    kReplace,          // every `text` by `by`
  };
  Kind kind = Kind::kPrepend;
  std::string text;
  std::string by = {};
  bool only_at_start = false;  // of the prompt; not behind a special token
};

class TextRewriter {
 public:
  TextRewriter() = default;
  explicit TextRewriter(std::vector<RewriteStep> steps) : steps_(std::move(steps)) {}

  /// The rewritten text: `text` itself or `*buffer`.
  std::string_view rewrite(std::string_view text, bool is_at_start, std::string* buffer) const;

 private:
  std::vector<RewriteStep> steps_;
};

}  // namespace wl::tokenizer
