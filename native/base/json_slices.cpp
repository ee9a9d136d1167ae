#include "base/json_slices.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "base/json.h"
#include "base/utf8.h"

namespace wl {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Half of a pretty-printed file is this.
constexpr std::string_view kIndent = "        ";

bool is_indent(std::string_view text) {
  return text.size() >= kIndent.size() &&
         std::memcmp(text.data(), kIndent.data(), kIndent.size()) == 0;
}

bool ends_scalar(char c) {
  return is_space(c) || c == ',' || c == ']' || c == '}' || c == ':' || c == '"';
}

/// What a byte means to who looks for the end of a string.
enum class InString : uint8_t { kAscii, kMultibyte, kQuote, kEscape, kControl };

constexpr std::array<InString, 256> make_in_string() {
  std::array<InString, 256> kinds{};
  for (size_t byte = 0; byte < kinds.size(); ++byte) {
    kinds[byte] = byte < 0x20   ? InString::kControl
                  : byte < 0x80 ? InString::kAscii
                                : InString::kMultibyte;
  }
  kinds['"'] = InString::kQuote;
  kinds['\\'] = InString::kEscape;
  return kinds;
}

constexpr std::array<InString, 256> kInString = make_in_string();

Error malformed(const std::string& what) { return {ErrorCode::kModelFormat, "JSON: " + what}; }

}  // namespace

Error JsonCursor::expected(const std::string& what) { return malformed("expected " + what); }

Status JsonCursor::check_end() {
  skip_space();
  if (pos_ < text_.size()) return malformed("more bytes after the value");
  return {};
}

void JsonCursor::skip_long_space() {
  while (pos_ < text_.size() && is_space(text_[pos_])) {
    ++pos_;
    while (is_indent(text_.substr(pos_))) pos_ += kIndent.size();
  }
}

Result<std::string_view> JsonCursor::take_value() {
  skip_space();
  const size_t start = pos_;
  if (pos_ >= text_.size() || !skip_value() || pos_ == start) return expected("a value");
  return text_.substr(start, pos_ - start);
}

Result<std::string_view> JsonCursor::take_string() {
  skip_space();
  const size_t start = pos_;
  if (!starts_with('"')) return expected("a string");
  bool is_ascii = true;
  for (size_t at = start + 1; at < text_.size(); ++at) {
    const InString kind = kInString[static_cast<unsigned char>(text_[at])];
    if (kind == InString::kAscii) continue;
    if (kind == InString::kMultibyte) {
      is_ascii = false;
      continue;
    }
    if (kind != InString::kQuote) break;
    const std::string_view text = text_.substr(start + 1, at - start - 1);
    if (!is_ascii && !is_valid_utf8(text)) return malformed("invalid UTF-8 in a string");
    pos_ = at + 1;
    return text;
  }
  // With escapes, or damaged.
  if (!skip_string()) return malformed("text ends inside a string");
  const auto parsed = parse_json(text_.substr(start, pos_ - start));
  if (!parsed.ok()) return parsed.error();
  return std::string_view(unescaped_->emplace_back(*parsed.value().as_string()));
}

bool JsonCursor::skip_value() {
  const char first = text_[pos_];
  if (first == '"') return skip_string();
  if (first == '{' || first == '[') return skip_nested();
  while (pos_ < text_.size() && !ends_scalar(text_[pos_])) ++pos_;
  return true;
}

bool JsonCursor::skip_string() {
  for (++pos_; pos_ < text_.size(); ++pos_) {
    if (text_[pos_] == '"') {
      ++pos_;
      return true;
    }
    if (text_[pos_] == '\\') ++pos_;  // an escape is two characters here, whatever follows
  }
  pos_ = text_.size();
  return false;
}

/// Reading the slice finds a wrong bracket.
bool JsonCursor::skip_nested() {
  size_t depth = 0;
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '"') {
      if (!skip_string()) return false;
      continue;
    }
    ++pos_;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return true;
  }
  return false;
}

}  // namespace wl
