#include "tokenizer/text_rewriter.h"

#include <utility>

namespace wl::tokenizer {

void append_replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::string* out) {
  size_t done = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, done)) {
    *out += text.substr(done, at - done);
    *out += to;
    done = at + from.size();
  }
  *out += text.substr(done);
}

std::string_view TextRewriter::rewrite(std::string_view text, bool is_at_start,
                                       std::string* buffer) const {
  for (const RewriteStep& step : steps_) {
    if (step.only_at_start && !is_at_start) continue;
    if (step.kind == RewriteStep::Kind::kReplace) {
      std::string replaced;
      replaced.reserve(text.size() + text.size() / 4);  // spaces grow to three bytes
      append_replaced(text, step.text, step.by, &replaced);
      *buffer = std::move(replaced);
    } else if (step.kind == RewriteStep::Kind::kPrepend || !text.starts_with(step.text)) {
      *buffer = step.text + std::string(text);
    } else {
      continue;
    }
    text = *buffer;
  }
  return text;
}

}  // namespace wl::tokenizer
