#include "base/json_slices.h"

#include "base/json.h"
#include "base/utf8.h"

namespace wl {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

Error malformed(const std::string& what) { return {ErrorCode::kModelFormat, "JSON: " + what}; }

class SliceReader {
 public:
  explicit SliceReader(std::string_view text) : text_(text) {}

  bool consume(char expected) {
    skip_space();
    if (pos_ >= text_.size() || text_[pos_] != expected) return false;
    ++pos_;
    return true;
  }

  bool at_end() {
    skip_space();
    return pos_ >= text_.size();
  }

  /// The next value, whatever it is; empty when the text ends inside it or has none.
  std::string_view take_value() {
    skip_space();
    const size_t start = pos_;
    if (pos_ >= text_.size()) return {};
    if (!skip_value()) return {};
    return text_.substr(start, pos_ - start);
  }

 private:
  void skip_space() {
    while (pos_ < text_.size() && is_space(text_[pos_])) ++pos_;
  }

  bool skip_value() {
    const char first = text_[pos_];
    if (first == '"') return skip_string();
    if (first == '{' || first == '[') return skip_nested();
    pos_ = std::min(text_.find_first_of(",]}: \t\r\n\"", pos_), text_.size());
    return true;
  }

  bool skip_string() {
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

  /// Brackets are counted, not matched: reading the slice finds a wrong one.
  bool skip_nested() {
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

  std::string_view text_;
  size_t pos_ = 0;
};

/// Walks `open item , item ... close`; `read_item` answers an error or ok.
template <class ReadItem>
Status walk(std::string_view text, char open, char close, ReadItem read_item) {
  SliceReader reader(text);
  if (!reader.consume(open)) return malformed(std::string("expected '") + open + "'");
  if (!reader.consume(close)) {
    do {
      WL_RETURN_IF_ERROR(read_item(reader));
    } while (reader.consume(','));
    if (!reader.consume(close)) return malformed(std::string("expected ',' or '") + close + "'");
  }
  if (!reader.at_end()) return malformed("more bytes after the value");
  return {};
}

}  // namespace

Status for_each_member(std::string_view object, const JsonMemberVisitor& visit) {
  std::string buffer;
  return walk(object, '{', '}', [&](SliceReader& reader) -> Status {
    const auto key = json_string(reader.take_value(), &buffer);
    if (!key.ok()) return key.error();
    if (!reader.consume(':')) return malformed("expected ':'");
    const std::string_view value = reader.take_value();
    if (value.empty()) return malformed("expected a value");
    return visit(key.value(), value);
  });
}

Status for_each_element(std::string_view array, const JsonElementVisitor& visit) {
  return walk(array, '[', ']', [&](SliceReader& reader) -> Status {
    const std::string_view value = reader.take_value();
    if (value.empty()) return malformed("expected a value");
    return visit(value);
  });
}

Result<std::string_view> json_string(std::string_view slice, std::string* buffer) {
  const bool is_plain = slice.size() >= 2 && slice.front() == '"' && slice.back() == '"' &&
                        slice.find('\\') == std::string_view::npos;
  if (is_plain) {
    const std::string_view text = slice.substr(1, slice.size() - 2);
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || c == '"') return malformed("expected a string");
    }
    if (!is_valid_utf8(text)) return malformed("invalid UTF-8 in a string");
    return text;
  }
  auto parsed = parse_json(slice);
  if (!parsed.ok()) return parsed.error();
  const std::string* text = parsed.value().as_string();
  if (text == nullptr) return malformed("expected a string");
  *buffer = *text;
  return std::string_view(*buffer);
}

}  // namespace wl
