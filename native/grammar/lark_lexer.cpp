#include "grammar/lark_lexer.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/utf8.h"

namespace wl::grammar {
namespace {

using Kind = LarkToken::Kind;

constexpr std::array<std::string_view, 17> kPunctuation = {
    "->", "..", ":", "|", "(", ")", "[", "]", "?", "*", "+", "~", ",", ".", "!", "{", "}"};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<LarkToken>> run() {
    if (!is_valid_utf8(text_)) return lark_error(1, "is not valid UTF-8");
    while (pos_ < text_.size()) WL_RETURN_IF_ERROR(take());
    add(Kind::kNewline, "");
    add(Kind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }

  void add(Kind kind, std::string text, std::string flags = {}) {
    if (kind == Kind::kNewline && (tokens_.empty() || tokens_.back().kind == kind)) return;
    tokens_.push_back({kind, std::move(text), std::move(flags), line_});
  }

  Status take() {
    const char c = peek();
    if (c == '\n') {
      add(Kind::kNewline, "");
      ++line_;
      ++pos_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++pos_;
    } else if (c == '#' || (c == '/' && peek(1) == '/')) {
      while (pos_ < text_.size() && peek() != '\n') ++pos_;
    } else if (c == '"') {
      return take_string();
    } else if (c == '/') {
      return take_regex();
    } else if (c == '%') {
      ++pos_;
      add(Kind::kDirective, take_name());
    } else if (is_digit(c)) {
      add(Kind::kNumber, take_name());
    } else if (is_name_char(c)) {
      add(Kind::kName, take_name());
    } else {
      return take_punctuation();
    }
    return {};
  }

  std::string take_name() {
    const size_t start = pos_;
    while (is_name_char(peek())) ++pos_;
    return std::string(text_.substr(start, pos_ - start));
  }

  Status take_punctuation() {
    for (const std::string_view word : kPunctuation) {
      if (text_.substr(pos_, word.size()) != word) continue;
      pos_ += word.size();
      add(Kind::kPunctuation, std::string(word));
      return {};
    }
    return lark_error(line_, "has a character that means nothing there: " +
                                 quote_bytes(std::string(text_.substr(pos_, 1))));
  }

  std::string take_flags() {
    const size_t start = pos_;
    while (peek() >= 'a' && peek() <= 'z') ++pos_;
    return std::string(text_.substr(start, pos_ - start));
  }

  Status take_string() {
    std::string out;
    for (++pos_; peek() != '"';) {
      if (pos_ >= text_.size() || peek() == '\n')
        return lark_error(line_, "has a string without an end");
      if (peek() == '\\') {
        WL_RETURN_IF_ERROR(take_escape(&out));
      } else {
        out.push_back(text_[pos_++]);
      }
    }
    ++pos_;
    // Only i is a flag of strings; what follows otherwise is an error of the parser's.
    const bool has_flag = peek() == 'i' && !is_name_char(peek(1));
    if (has_flag) ++pos_;
    add(Kind::kString, std::move(out), has_flag ? "i" : "");
    return {};
  }

  Status take_escape(std::string* out) {
    constexpr std::string_view kNames = "nrtfv\\\"/", kBytes = "\n\r\t\f\v\\\"/";
    const char name = peek(1);
    const size_t index = kNames.find(name);
    if (index != std::string_view::npos && name != '\0') {
      out->push_back(kBytes[index]);
      pos_ += 2;
      return {};
    }
    const size_t num_digits = name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
    const std::string_view digits =
        text_.substr(pos_ + 2 < text_.size() ? pos_ + 2 : text_.size(), num_digits);
    uint32_t value = 0;
    const char* const end = digits.data() + digits.size();
    const bool is_hex = num_digits > 0 && digits.size() == num_digits &&
                        std::from_chars(digits.data(), end, value, 16).ptr == end;
    if (!is_hex || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
      return lark_error(line_, "has an unknown escape in a string");
    }
    append_utf8(value, out);
    pos_ += 2 + num_digits;
    return {};
  }

  Status take_regex() {
    std::string out;
    for (++pos_; peek() != '/'; ++pos_) {
      if (pos_ >= text_.size() || peek() == '\n') {
        return lark_error(line_, "has an expression without an end");
      }
      // What is escaped stays so, for the expression's own parser; a slash may stand alone there.
      if (peek() == '\\' && peek(1) != '\n' && peek(1) != '\0') out.push_back(text_[pos_++]);
      out.push_back(peek());
    }
    ++pos_;
    std::string flags = take_flags();
    add(Kind::kRegex, std::move(out), std::move(flags));
    return {};
  }

  std::string_view text_;
  size_t pos_ = 0;
  int line_ = 1;
  std::vector<LarkToken> tokens_;
};

}  // namespace

Result<std::vector<LarkToken>> cut_lark_tokens(std::string_view definition) {
  return Lexer(definition).run();
}

Error lark_error(int line, const std::string& what) {
  return {ErrorCode::kGrammar, "Lark grammar, line " + std::to_string(line) + ": " + what};
}

}  // namespace wl::grammar
