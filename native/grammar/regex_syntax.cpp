#include "grammar/regex_syntax.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "grammar/regex_chars.h"

namespace wl::grammar {
namespace {

constexpr int kMaxDepth = 100;               // each group is some stack frames
constexpr size_t kMaxPatternBytes = 16'384;  // enough for every pattern that is written by hand
constexpr uint32_t kMaxCount = 100'000;      // what a quantifier may say; states are counted later

RegexNode chars_node(CharSet set) { return {RegexNode::Kind::kChars, std::move(set), {}, 0, 0}; }

/// Recursive descent. Every parse function returns false once `in_.error` is set.
class Parser {
 public:
  Parser(std::string_view pattern, const RegexOptions& options)
      : in_{pattern, 0, {}}, options_(options) {}

  Result<RegexNode> run() {
    RegexNode node;
    if (in_.text.size() > kMaxPatternBytes) {
      in_.fail("is longer than " + std::to_string(kMaxPatternBytes) + " bytes");
    } else if (!is_valid_utf8(in_.text)) {
      in_.fail("is not valid UTF-8");
    } else if (parse_choice(&node, 0) && in_.pos < in_.text.size()) {
      in_.fail("has an unmatched )");
    }
    if (!in_.error.empty()) return {ErrorCode::kGrammar, in_.error};
    return node;
  }

 private:
  bool parse_choice(RegexNode* out, int depth) {
    if (depth > kMaxDepth) return in_.fail("nests groups too deeply");
    out->kind = RegexNode::Kind::kChoice;
    do {
      if (!parse_sequence(&out->parts.emplace_back(), depth)) return false;
    } while (in_.consume("|"));
    if (out->parts.size() > 1) return true;
    RegexNode only = std::move(out->parts[0]);
    *out = std::move(only);
    return true;
  }

  bool parse_sequence(RegexNode* out, int depth) {
    while (!in_.at_end() && in_.peek() != '|' && in_.peek() != ')') {
      RegexNode part;
      if (!parse_atom(&part, depth)) return false;
      if (!parse_quantifier(&part)) return false;
      out->parts.push_back(std::move(part));
    }
    return true;
  }

  bool parse_atom(RegexNode* out, int depth) {
    switch (in_.peek()) {
      case '^':
        ++in_.pos;
        out->kind = RegexNode::Kind::kAtStart;
        return true;
      case '$':
        ++in_.pos;
        out->kind = RegexNode::Kind::kAtEnd;
        return true;
      case '.':
        ++in_.pos;
        *out = chars_node(dot_chars());
        return true;
      case '(':
        return parse_group(out, depth);
      case '[':
        return parse_class_node(out);
      case '\\':
        return parse_escape_node(out);
      case '*':
      case '+':
      case '?':
        return in_.fail("has a quantifier with nothing to repeat");
      default:
        *out = chars_node(single(in_.take_char()));
        return true;
    }
  }

  CharSet dot_chars() const {
    switch (options_.dot) {
      case RegexOptions::Dot::kAny:
        return any_char();
      case RegexOptions::Dot::kNoLineFeed:
        return complement({{'\n', '\n'}});
      case RegexOptions::Dot::kNoLineTerminator:
        return complement({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
    }
    return {};
  }

  CharSet single(uint32_t c) const {
    CharSet set = make_char_set({{c, c}});
    return options_.ignores_ascii_case ? fold_ascii_case(set) : set;
  }

  bool parse_group(RegexNode* out, int depth) {
    ++in_.pos;
    if (in_.consume("?")) {
      if (in_.peek() == '=' || in_.peek() == '!')
        return in_.fail("has a look-ahead, which is not supported,");
      if (in_.consume("<")) {
        if (in_.peek() == '=' || in_.peek() == '!')
          return in_.fail("has a look-behind, which is not supported,");
        const size_t end = in_.text.find('>', in_.pos);
        if (end == std::string_view::npos) return in_.fail("has a group name without an end");
        in_.pos = end + 1;
      } else if (!in_.consume(":")) {
        return in_.fail("has a kind of group that is not supported");
      }
    }
    if (!parse_choice(out, depth + 1)) return false;
    return in_.consume(")") || in_.fail("has a group without an end");
  }

  bool parse_quantifier(RegexNode* part) {
    while (true) {
      uint32_t min = 0, max = RegexNode::kUnbounded;
      if (in_.consume("*")) {
      } else if (in_.consume("+")) {
        min = 1;
      } else if (in_.consume("?")) {
        max = 1;
      } else if (in_.peek() != '{' || !parse_counts(&min, &max)) {
        return in_.error.empty();
      }
      if (part->kind == RegexNode::Kind::kAtStart || part->kind == RegexNode::Kind::kAtEnd) {
        return in_.fail("has a quantifier behind an anchor");
      }
      in_.consume("?");  // a lazy quantifier matches the same strings
      RegexNode repeat;
      repeat.kind = RegexNode::Kind::kRepeat;
      repeat.min = min;
      repeat.max = max;
      repeat.parts.push_back(std::move(*part));
      *part = std::move(repeat);
      if (in_.peek() == '*' || in_.peek() == '+' || in_.peek() == '?') {
        return in_.fail("has a quantifier behind a quantifier");
      }
      return true;
    }
  }

  std::optional<uint32_t> parse_count() {
    if (!is_digit(in_.peek())) return std::nullopt;
    uint32_t value = 0;
    while (is_digit(in_.peek())) {
      value = std::min(value * 10 + static_cast<uint32_t>(in_.peek() - '0'), kMaxCount);
      ++in_.pos;
    }
    return value;
  }

  /// `{2}`, `{2,}`, `{2,3}`, and Python's `{,3}`.
  bool parse_counts(uint32_t* min, uint32_t* max) {
    ++in_.pos;
    const auto low = parse_count();
    const bool has_comma = in_.consume(",");
    const auto high = has_comma ? parse_count() : low;
    if ((!low && !high) || !in_.consume("}")) return in_.fail("has an incomplete { } quantifier");
    *min = low.value_or(0);
    *max = high.value_or(RegexNode::kUnbounded);
    if (*min > *max) return in_.fail("has a quantifier with its bounds in the wrong order");
    return true;
  }

  bool parse_escape_node(RegexNode* out) {
    if (in_.is_at("\\b") || in_.is_at("\\B")) {
      return in_.fail("has a word boundary, which is not supported,");
    }
    RegexChars chars;
    if (!parse_escape(in_, &chars)) return false;
    *out = chars_node(chars.character ? single(*chars.character) : std::move(chars.set));
    return true;
  }

  bool parse_class_node(RegexNode* out) {
    CharSet set;
    if (!parse_class(in_, options_.ignores_ascii_case, &set)) return false;
    *out = chars_node(std::move(set));
    return true;
  }

  RegexCursor in_;
  const RegexOptions& options_;
};

}  // namespace

Result<RegexNode> parse_regex_syntax(std::string_view pattern, const RegexOptions& options) {
  return Parser(pattern, options).run();
}

}  // namespace wl::grammar
