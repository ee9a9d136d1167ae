#include "tokenizer/text_rewriter.h"

namespace wl::tokenizer {

namespace {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);  // spaces grow to three bytes
  size_t done = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, done)) {
    out += text.substr(done, at - done);
    out += to;
    done = at + from.size();
  }
  out += text.substr(done);
  return out;
}

}  // namespace

std::string_view TextRewriter::rewrite(std::string_view text, bool is_at_start,
                                       std::string* buffer) const {
  for (const RewriteStep& step : steps_) {
    if (step.only_at_start && !is_at_start) continue;
    if (step.kind == RewriteStep::Kind::kReplace) {
      *buffer = replace_all(text, step.text, step.by);
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
