#include "grammar/regex_chars.h"

#include <string_view>
#include <utility>
#include <vector>

namespace wl::grammar {
namespace {

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

bool parse_control(RegexCursor& in, std::optional<uint32_t>* character) {
  const auto lower = static_cast<char>(in.peek() | 0x20);
  if (lower < 'a' || lower > 'z') return in.fail("has an incomplete \\c escape");
  ++in.pos;
  *character = static_cast<uint32_t>(lower - 'a' + 1);
  return true;
}

bool parse_hex(RegexCursor& in, size_t num_digits, std::optional<uint32_t>* character) {
  const std::string_view digits = in.text.substr(in.pos, num_digits);
  const auto value = hex_value(digits);
  if (digits.size() != num_digits || !value) return in.fail("has an incomplete hex escape");
  in.pos += num_digits;
  *character = *value;
  return true;
}

/// `\u0041`, `\ud83d\ude00` or `\u{1f600}`; the backslash and the u are read.
bool parse_unicode(RegexCursor& in, std::optional<uint32_t>* character) {
  if (in.consume("{")) {
    const size_t end = in.text.find('}', in.pos);
    if (end == std::string_view::npos) return in.fail("has an incomplete \\u{ } escape");
    const auto value = hex_value(in.text.substr(in.pos, end - in.pos));
    if (!value) return in.fail("has a \\u{ } escape of no character");
    in.pos = end + 1;
    *character = *value;
    return true;
  }
  if (!parse_hex(in, 4, character)) return false;
  if (**character < 0xd800 || **character > 0xdbff || !in.is_at("\\u")) return true;
  const auto low = hex_value(in.text.substr(in.pos + 2, 4));
  if (!low || *low < 0xdc00 || *low > 0xdfff) return true;
  in.pos += 6;
  *character = 0x10000 + ((**character - 0xd800) << 10) + (*low - 0xdc00);
  return true;
}

bool parse_escaped_char(RegexCursor& in, uint32_t c, std::optional<uint32_t>* character) {
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
      if (is_digit(in.peek())) return in.fail("has an octal escape, which is not supported,");
      *character = 0;
      return true;
    case 'c':
      return parse_control(in, character);
    case 'x':
      return parse_hex(in, 2, character);
    case 'u':
      return parse_unicode(in, character);
    default:
      if (c >= '1' && c <= '9') return in.fail("has a back reference, which is not supported,");
      if (c == 'k') return in.fail("has a named back reference, which is not supported,");
      if (contains(word_chars(), c)) return in.fail("has an unknown escape");
      *character = c;
      return true;
  }
}

bool parse_category(RegexCursor& in, bool is_negated, CharSet* set) {
  const size_t end = in.text.find('}', in.pos);
  if (!in.consume("{") || end == std::string_view::npos)
    return in.fail("has an incomplete \\p escape");
  std::string_view name = in.text.substr(in.pos, end - in.pos);
  const size_t equals = name.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view property = name.substr(0, equals);
    if (property == "gc" || property == "General_Category") name.remove_prefix(equals + 1);
  }
  auto chars = category_chars(name);
  if (!chars) return in.fail("has a Unicode property that is not supported");
  in.pos = end + 1;
  *set = is_negated ? complement(*chars) : *std::move(chars);
  return true;
}

bool parse_class_atom(RegexCursor& in, RegexChars* out) {
  if (in.peek() != '\\') {
    out->character = in.take_char();
    return true;
  }
  if (in.consume("\\b")) {
    out->character = '\b';
    return true;
  }
  return parse_escape(in, out);
}

bool parse_class_item(RegexCursor& in, std::vector<CharRange>* ranges) {
  RegexChars first;
  if (!parse_class_atom(in, &first)) return false;
  const bool is_range =
      in.peek() == '-' && in.pos + 1 < in.text.size() && in.text[in.pos + 1] != ']';
  if (!first.character || !is_range) {
    if (first.character) first.set = {{*first.character, *first.character}};
    ranges->insert(ranges->end(), first.set.begin(), first.set.end());
    return true;
  }
  ++in.pos;
  RegexChars last;
  if (!parse_class_atom(in, &last)) return false;
  if (!last.character) return in.fail("has a range that ends with a class");
  if (*first.character > *last.character) {
    return in.fail("has a range with its ends in the wrong order");
  }
  ranges->push_back({*first.character, *last.character});
  return true;
}

}  // namespace

bool parse_escape(RegexCursor& in, RegexChars* out) {
  ++in.pos;
  if (in.at_end()) return in.fail("ends with a backslash");
  const uint32_t c = in.take_char();
  switch (c) {
    case 'd':
      out->set = digit_chars();
      return true;
    case 'D':
      out->set = complement(digit_chars());
      return true;
    case 'w':
      out->set = word_chars();
      return true;
    case 'W':
      out->set = complement(word_chars());
      return true;
    case 's':
      out->set = space_chars();
      return true;
    case 'S':
      out->set = complement(space_chars());
      return true;
    case 'p':
    case 'P':
      return parse_category(in, c == 'P', &out->set);
    default:
      return parse_escaped_char(in, c, &out->character);
  }
}

bool parse_class(RegexCursor& in, bool ignores_ascii_case, CharSet* out) {
  ++in.pos;
  const bool is_negated = in.consume("^");
  std::vector<CharRange> ranges;
  while (in.peek() != ']' || in.at_end()) {
    if (in.at_end()) return in.fail("has a character class without an end");
    if (!parse_class_item(in, &ranges)) return false;
  }
  ++in.pos;
  CharSet set = make_char_set(std::move(ranges));
  if (ignores_ascii_case) set = fold_ascii_case(set);
  *out = is_negated ? complement(set) : std::move(set);
  return true;
}

}  // namespace wl::grammar
