#include "grammar/regex_syntax.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/utf8.h"

namespace wl::grammar {
namespace {

constexpr int kMaxDepth = 100;               // each group is some stack frames
constexpr size_t kMaxPatternBytes = 16'384;  // enough for every pattern that is written by hand
constexpr uint32_t kMaxCount = 100'000;      // what a quantifier may say; states are counted later

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<uint32_t> hex_value(std::string_view digits) {
  uint32_t value = 0;
  if (digits.empty()) return std::nullopt;
  for (const char c : digits) {
    const char lower = static_cast<char>(c | 0x20);
    uint32_t digit = 0;
    if (is_digit(c)) {
      digit = static_cast<uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      digit = static_cast<uint32_t>(lower - 'a') + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + digit;
    if (value > kMaxCodePoint) return std::nullopt;
  }
  return value;
}

RegexNode chars_node(CharSet set) { return {RegexNode::Kind::kChars, std::move(set), {}, 0, 0}; }

/// Recursive descent. Every parse function returns false once `error_` is set.
class Parser {
 public:
  Parser(std::string_view pattern, const RegexOptions& options)
      : text_(pattern), options_(options) {}

  Result<RegexNode> run() {
    RegexNode node;
    if (text_.size() > kMaxPatternBytes) {
      fail("is longer than " + std::to_string(kMaxPatternBytes) + " bytes");
    } else if (!is_valid_utf8(text_)) {
      fail("is not valid UTF-8");
    } else if (parse_choice(&node, 0) && pos_ < text_.size()) {
      fail("has an unmatched )");
    }
    if (!error_.empty()) return {ErrorCode::kGrammar, error_};
    return node;
  }

 private:
  bool fail(std::string what) {
    error_ = std::move(what) + " at byte " + std::to_string(pos_);
    return false;
  }

  bool at_end() const { return pos_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[pos_]; }
  bool consume(std::string_view word) {
    if (text_.substr(pos_, word.size()) != word) return false;
    pos_ += word.size();
    return true;
  }

  uint32_t take_char() {
    const Utf8Char c = char_at(text_, pos_);
    pos_ += c.num_bytes;
    return c.code_point;
  }

  bool parse_choice(RegexNode* out, int depth) {
    if (depth > kMaxDepth) return fail("nests groups too deeply");
    out->kind = RegexNode::Kind::kChoice;
    do {
      if (!parse_sequence(&out->parts.emplace_back(), depth)) return false;
    } while (consume("|"));
    if (out->parts.size() > 1) return true;
    RegexNode only = std::move(out->parts[0]);
    *out = std::move(only);
    return true;
  }

  bool parse_sequence(RegexNode* out, int depth) {
    while (!at_end() && peek() != '|' && peek() != ')') {
      RegexNode part;
      if (!parse_atom(&part, depth)) return false;
      if (!parse_quantifier(&part)) return false;
      out->parts.push_back(std::move(part));
    }
    return true;
  }

  bool parse_atom(RegexNode* out, int depth) {
    switch (peek()) {
      case '^':
        ++pos_;
        out->kind = RegexNode::Kind::kAtStart;
        return true;
      case '$':
        ++pos_;
        out->kind = RegexNode::Kind::kAtEnd;
        return true;
      case '.':
        ++pos_;
        *out = chars_node(dot_chars());
        return true;
      case '(':
        return parse_group(out, depth);
      case '[':
        return parse_class(out);
      case '\\':
        return parse_escape(out);
      case '*':
      case '+':
      case '?':
        return fail("has a quantifier with nothing to repeat");
      default:
        *out = chars_node(single(take_char()));
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

  CharSet folded(CharSet set) const {
    return options_.ignores_ascii_case ? fold_ascii_case(set) : set;
  }

  CharSet single(uint32_t c) const { return folded(make_char_set({{c, c}})); }

  bool parse_group(RegexNode* out, int depth) {
    ++pos_;
    if (consume("?")) {
      if (peek() == '=' || peek() == '!') return fail("has a look-ahead, which is not supported,");
      if (consume("<")) {
        if (peek() == '=' || peek() == '!')
          return fail("has a look-behind, which is not supported,");
        const size_t end = text_.find('>', pos_);
        if (end == std::string_view::npos) return fail("has a group name without an end");
        pos_ = end + 1;
      } else if (!consume(":")) {
        return fail("has a kind of group that is not supported");
      }
    }
    if (!parse_choice(out, depth + 1)) return false;
    return consume(")") || fail("has a group without an end");
  }

  bool parse_quantifier(RegexNode* part) {
    while (true) {
      uint32_t min = 0, max = RegexNode::kUnbounded;
      if (consume("*")) {
      } else if (consume("+")) {
        min = 1;
      } else if (consume("?")) {
        max = 1;
      } else if (peek() != '{' || !parse_counts(&min, &max)) {
        return error_.empty();
      }
      if (part->kind == RegexNode::Kind::kAtStart || part->kind == RegexNode::Kind::kAtEnd) {
        return fail("has a quantifier behind an anchor");
      }
      consume("?");  // a lazy quantifier matches the same strings
      RegexNode repeat;
      repeat.kind = RegexNode::Kind::kRepeat;
      repeat.min = min;
      repeat.max = max;
      repeat.parts.push_back(std::move(*part));
      *part = std::move(repeat);
      if (peek() == '*' || peek() == '+' || peek() == '?') {
        return fail("has a quantifier behind a quantifier");
      }
      return true;
    }
  }

  std::optional<uint32_t> parse_count() {
    if (!is_digit(peek())) return std::nullopt;
    uint32_t value = 0;
    while (is_digit(peek())) {
      value = std::min(value * 10 + static_cast<uint32_t>(peek() - '0'), kMaxCount);
      ++pos_;
    }
    return value;
  }

  /// `{2}`, `{2,}`, `{2,3}`, and Python's `{,3}`.
  bool parse_counts(uint32_t* min, uint32_t* max) {
    ++pos_;
    const auto low = parse_count();
    const bool has_comma = consume(",");
    const auto high = has_comma ? parse_count() : low;
    if ((!low && !high) || !consume("}")) return fail("has an incomplete { } quantifier");
    *min = low.value_or(0);
    *max = high.value_or(RegexNode::kUnbounded);
    if (*min > *max) return fail("has a quantifier with its bounds in the wrong order");
    return true;
  }

  bool parse_escape(RegexNode* out) {
    if (text_.substr(pos_, 2) == "\\b" || text_.substr(pos_, 2) == "\\B") {
      return fail("has a word boundary, which is not supported,");
    }
    CharSet set;
    std::optional<uint32_t> character;
    if (!parse_escape_chars(&set, &character)) return false;
    *out = chars_node(character ? single(*character) : std::move(set));
    return true;
  }

  /// An escape, of one character or of a set.
  bool parse_escape_chars(CharSet* set, std::optional<uint32_t>* character) {
    ++pos_;
    if (at_end()) return fail("ends with a backslash");
    const uint32_t c = take_char();
    switch (c) {
      case 'd':
        *set = digit_chars();
        return true;
      case 'D':
        *set = complement(digit_chars());
        return true;
      case 'w':
        *set = word_chars();
        return true;
      case 'W':
        *set = complement(word_chars());
        return true;
      case 's':
        *set = space_chars();
        return true;
      case 'S':
        *set = complement(space_chars());
        return true;
      case 'p':
      case 'P':
        return parse_category(c == 'P', set);
      default:
        return parse_escaped_char(c, character);
    }
  }

  bool parse_escaped_char(uint32_t c, std::optional<uint32_t>* character) {
    switch (c) {
      case 'n':
        *character = '\n';
        return true;
      case 'r':
        *character = '\r';
        return true;
      case 't':
        *character = '\t';
        return true;
      case 'f':
        *character = '\f';
        return true;
      case 'v':
        *character = '\v';
        return true;
      case '0':
        if (is_digit(peek())) return fail("has an octal escape, which is not supported,");
        *character = 0;
        return true;
      case 'c':
        return parse_control(character);
      case 'x':
        return parse_hex(2, character);
      case 'u':
        return parse_unicode(character);
      default:
        if (c >= '1' && c <= '9') return fail("has a back reference, which is not supported,");
        if (c == 'k') return fail("has a named back reference, which is not supported,");
        if (contains(word_chars(), c)) return fail("has an unknown escape");
        *character = c;
        return true;
    }
  }

  bool parse_control(std::optional<uint32_t>* character) {
    const auto lower = static_cast<char>(peek() | 0x20);
    if (lower < 'a' || lower > 'z') return fail("has an incomplete \\c escape");
    ++pos_;
    *character = static_cast<uint32_t>(lower - 'a' + 1);
    return true;
  }

  bool parse_hex(size_t num_digits, std::optional<uint32_t>* character) {
    const std::string_view digits = text_.substr(pos_, num_digits);
    const auto value = hex_value(digits);
    if (digits.size() != num_digits || !value) return fail("has an incomplete hex escape");
    pos_ += num_digits;
    *character = *value;
    return true;
  }

  /// `\u0041`, `\ud83d\ude00` or `\u{1f600}`; the backslash and the u are read.
  bool parse_unicode(std::optional<uint32_t>* character) {
    if (consume("{")) {
      const size_t end = text_.find('}', pos_);
      if (end == std::string_view::npos) return fail("has an incomplete \\u{ } escape");
      const auto value = hex_value(text_.substr(pos_, end - pos_));
      if (!value) return fail("has a \\u{ } escape of no character");
      pos_ = end + 1;
      *character = *value;
      return true;
    }
    if (!parse_hex(4, character)) return false;
    if (**character < 0xd800 || **character > 0xdbff || text_.substr(pos_, 2) != "\\u") return true;
    const auto low = hex_value(text_.substr(pos_ + 2, 4));
    if (!low || *low < 0xdc00 || *low > 0xdfff) return true;
    pos_ += 6;
    *character = 0x10000 + ((**character - 0xd800) << 10) + (*low - 0xdc00);
    return true;
  }

  bool parse_category(bool is_negated, CharSet* set) {
    const size_t end = text_.find('}', pos_);
    if (!consume("{") || end == std::string_view::npos) return fail("has an incomplete \\p escape");
    std::string_view name = text_.substr(pos_, end - pos_);
    const size_t equals = name.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view property = name.substr(0, equals);
      if (property == "gc" || property == "General_Category") name.remove_prefix(equals + 1);
    }
    auto chars = category_chars(name);
    if (!chars) return fail("has a Unicode property that is not supported");
    pos_ = end + 1;
    *set = is_negated ? complement(*chars) : *std::move(chars);
    return true;
  }

  bool parse_class(RegexNode* out) {
    ++pos_;
    const bool is_negated = consume("^");
    std::vector<CharRange> ranges;
    while (peek() != ']' || at_end()) {
      if (at_end()) return fail("has a character class without an end");
      if (!parse_class_item(&ranges)) return false;
    }
    ++pos_;
    CharSet set = folded(make_char_set(std::move(ranges)));
    *out = chars_node(is_negated ? complement(set) : std::move(set));
    return true;
  }

  bool parse_class_item(std::vector<CharRange>* ranges) {
    CharSet set;
    std::optional<uint32_t> first;
    if (!parse_class_atom(&set, &first)) return false;
    const bool is_range = peek() == '-' && pos_ + 1 < text_.size() && text_[pos_ + 1] != ']';
    if (!first || !is_range) {
      if (first) set = {{*first, *first}};
      ranges->insert(ranges->end(), set.begin(), set.end());
      return true;
    }
    ++pos_;
    std::optional<uint32_t> last;
    if (!parse_class_atom(&set, &last)) return false;
    if (!last) return fail("has a range that ends with a class");
    if (*first > *last) return fail("has a range with its ends in the wrong order");
    ranges->push_back({*first, *last});
    return true;
  }

  bool parse_class_atom(CharSet* set, std::optional<uint32_t>* character) {
    if (peek() != '\\') {
      *character = take_char();
      return true;
    }
    if (text_.substr(pos_, 2) == "\\b") {
      pos_ += 2;
      *character = '\b';
      return true;
    }
    return parse_escape_chars(set, character);
  }

  std::string_view text_;
  const RegexOptions& options_;
  size_t pos_ = 0;
  std::string error_;
};

}  // namespace

Result<RegexNode> parse_regex_syntax(std::string_view pattern, const RegexOptions& options) {
  return Parser(pattern, options).run();
}

}  // namespace wl::grammar
