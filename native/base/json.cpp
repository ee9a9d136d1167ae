#include "base/json.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"

namespace wl {

std::optional<bool> JsonValue::as_bool() const {
  if (const bool* value = std::get_if<bool>(&v_)) return *value;
  return std::nullopt;
}

std::optional<int64_t> JsonValue::as_int() const {
  if (const int64_t* value = std::get_if<int64_t>(&v_)) return *value;
  return std::nullopt;
}

std::optional<double> JsonValue::as_number() const {
  if (const double* value = std::get_if<double>(&v_)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&v_)) return static_cast<double>(*value);
  return std::nullopt;
}

const JsonValue* JsonValue::find(std::string_view key) const {
  const JsonObject* members = as_object();
  if (members == nullptr) return nullptr;
  const auto found =
      std::lower_bound(members->begin(), members->end(), key,
                       [](const JsonMember& m, std::string_view k) { return m.first < k; });
  return found != members->end() && found->first == key ? &found->second : nullptr;
}

namespace {

/// Recursive descent over `text_`. Every parse function returns false once `error_` is set.
class Parser {
 public:
  Parser(std::string_view text, JsonLimits limits) : text_(text), limits_(limits) {}

  Result<JsonValue> parse_document() {
    JsonValue value;
    skip_space();
    if (!parse_value(&value, 0)) return failure();
    skip_space();
    if (pos_ != text_.size()) {
      fail("more bytes after the value");
      return failure();
    }
    return value;
  }

 private:
  Error failure() const {
    return {ErrorCode::kModelFormat, "JSON: " + error_ + " at byte " + std::to_string(pos_)};
  }

  bool fail(std::string what) {
    error_ = std::move(what);
    return false;
  }

  bool at_end() const { return pos_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[pos_]; }

  bool consume(char c) {
    if (at_end() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  void skip_space() {
    while (!at_end()) {
      const char c = text_[pos_];
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
      ++pos_;
    }
  }

  bool parse_value(JsonValue* out, int depth) {
    if (++num_nodes_ > limits_.max_nodes) return fail("too many values");
    if (at_end()) return fail("text ends early");
    switch (peek()) {
      case '{':
        return parse_object(out, depth);
      case '[':
        return parse_array(out, depth);
      case '"': {
        std::string text;
        if (!parse_string(&text)) return false;
        *out = JsonValue(std::move(text));
        return true;
      }
      case 't':
        return parse_word("true", JsonValue(true), out);
      case 'f':
        return parse_word("false", JsonValue(false), out);
      case 'n':
        return parse_word("null", JsonValue(), out);
      default:
        return parse_number(out);
    }
  }

  bool parse_word(std::string_view word, JsonValue value, JsonValue* out) {
    if (text_.substr(pos_, word.size()) != word) return fail("unknown word");
    pos_ += word.size();
    *out = std::move(value);
    return true;
  }

  bool parse_array(JsonValue* out, int depth) {
    if (depth >= limits_.max_depth) return fail("nested too deeply");
    ++pos_;
    JsonArray items;
    skip_space();
    if (!consume(']')) {
      do {
        skip_space();
        if (!parse_value(&items.emplace_back(), depth + 1)) return false;
        skip_space();
      } while (consume(','));
      if (!consume(']')) return fail(at_end() ? "text ends early" : "expected ',' or ']'");
    }
    *out = JsonValue(std::move(items));
    return true;
  }

  bool parse_object(JsonValue* out, int depth) {
    if (depth >= limits_.max_depth) return fail("nested too deeply");
    ++pos_;
    JsonObject members;
    skip_space();
    if (!consume('}')) {
      do {
        skip_space();
        JsonMember& member = members.emplace_back();
        if (peek() != '"') return fail(at_end() ? "text ends early" : "expected a key");
        if (!parse_string(&member.first)) return false;
        skip_space();
        if (!consume(':')) return fail("expected ':'");
        skip_space();
        if (!parse_value(&member.second, depth + 1)) return false;
        skip_space();
      } while (consume(','));
      if (!consume('}')) return fail(at_end() ? "text ends early" : "expected ',' or '}'");
    }
    const auto key_less = [](const JsonMember& a, const JsonMember& b) {
      return a.first < b.first;
    };
    std::sort(members.begin(), members.end(), key_less);
    const auto duplicate =
        std::adjacent_find(members.begin(), members.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first; });
    if (duplicate != members.end()) {
      return fail("duplicate key " + quote_bytes(duplicate->first) + " in the object ending");
    }
    *out = JsonValue(std::move(members));
    return true;
  }

  bool parse_string(std::string* out) {
    const size_t start = ++pos_;
    while (!at_end()) {
      const char c = text_[pos_];
      if (c == '"') {
        if (!is_valid_utf8(*out)) {
          pos_ = start;
          return fail("invalid UTF-8 in the string");
        }
        ++pos_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return fail("control character in a string");
      ++pos_;
      if (c != '\\') {
        out->push_back(c);
      } else if (!parse_escape(out)) {
        return false;
      }
    }
    return fail("text ends inside a string");
  }

  bool parse_escape(std::string* out) {
    const char c = peek();
    ++pos_;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out->push_back(c);
        return true;
      case 'b':
        out->push_back('\b');
        return true;
      case 'f':
        out->push_back('\f');
        return true;
      case 'n':
        out->push_back('\n');
        return true;
      case 'r':
        out->push_back('\r');
        return true;
      case 't':
        out->push_back('\t');
        return true;
      case 'u':
        return parse_unicode_escape(out);
      default:
        --pos_;
        return fail("unknown escape in a string");
    }
  }

  bool parse_unicode_escape(std::string* out) {
    uint32_t code = 0;
    if (!parse_hex4(&code)) return false;
    if (code >= 0xdc00 && code < 0xe000) return fail("lone surrogate in a string");
    if (code >= 0xd800 && code < 0xdc00) {
      uint32_t low = 0;
      if (text_.substr(pos_, 2) != "\\u") return fail("lone surrogate in a string");
      pos_ += 2;
      if (!parse_hex4(&low)) return false;
      if (low < 0xdc00 || low >= 0xe000) return fail("lone surrogate in a string");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(code, out);
    return true;
  }

  bool parse_hex4(uint32_t* out) {
    const std::string_view digits = text_.substr(pos_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), *out, 16);
    if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4) {
      return fail("expected four hex digits");
    }
    pos_ += 4;
    return true;
  }

  size_t skip_digits() {
    const size_t start = pos_;
    while (peek() >= '0' && peek() <= '9') ++pos_;
    return pos_ - start;
  }

  bool parse_number(JsonValue* out) {
    const size_t start = pos_;
    bool is_integer = true;
    consume('-');
    if (!consume('0') && skip_digits() == 0) return fail("expected a value");
    if (consume('.')) {
      is_integer = false;
      if (skip_digits() == 0) return fail("expected digits after '.'");
    }
    if (consume('e') || consume('E')) {
      is_integer = false;
      if (!consume('+')) consume('-');
      if (skip_digits() == 0) return fail("expected digits of an exponent");
    }
    const char* first = text_.data() + start;
    const char* last = text_.data() + pos_;
    int64_t integer = 0;
    if (is_integer && std::from_chars(first, last, integer).ec == std::errc()) {
      *out = JsonValue(integer);
      return true;
    }
    double number = 0;
    if (std::from_chars(first, last, number).ec != std::errc()) return fail("number out of range");
    *out = JsonValue(number);
    return true;
  }

  std::string_view text_;
  JsonLimits limits_;
  size_t pos_ = 0;
  size_t num_nodes_ = 0;
  std::string error_;
};

}  // namespace

Result<JsonValue> parse_json(std::string_view text, JsonLimits limits) {
  return Parser(text, limits).parse_document();
}

}  // namespace wl
