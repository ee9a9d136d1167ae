#pragma once
// Walks a large JSON text once, front to back, without building a tree: values are handed on as
// they stand in the text. For files where a tree of everything would cost more than what is read
// from them (a tokenizer.json has a million values). What a slice holds is checked by whoever reads
// it, with parse_json.

#include <deque>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wl {

/// A place in a JSON text. A copy goes on from the same place.
class JsonCursor {
 public:
  /// @param text stays the caller's, as do the strings taken from it
  /// @param unescaped keeps the strings that are not in `text` as they are
  JsonCursor(std::string_view text, std::deque<std::string>* unescaped)
      : text_(text), unescaped_(unescaped) {}

  /// The next value, whatever it is, brackets counted but not matched. Errors: ERR_MODEL_FORMAT.
  Result<std::string_view> take_value();

  /// The next value, which is a string: without quotes, escapes undone. Errors: ERR_MODEL_FORMAT.
  Result<std::string_view> take_string();

  bool starts_with(char c) {
    skip_space();
    return pos_ < text_.size() && text_[pos_] == c;
  }

  /// Errors: ERR_MODEL_FORMAT when more than space is left.
  Status check_end();

  /// The next value, which is an object: calls `visit(key)` with the cursor in front of each
  /// member's value, which it has to take. Duplicate keys are not looked for.
  /// Errors: ERR_MODEL_FORMAT, or the visitor's, which end the walk.
  template <class Visit>
  Status for_each_member(Visit visit) {
    return walk('{', '}', [&]() -> Status {
      const auto key = take_string();
      if (!key.ok()) return key.error();
      if (!consume(':')) return expected("':'");
      return visit(key.value());
    });
  }

  /// As for_each_member(), of an array: calls `visit()` in front of each element.
  template <class Visit>
  Status for_each_element(Visit visit) {
    return walk('[', ']', visit);
  }

 private:
  template <class TakeItem>
  Status walk(char open, char close, TakeItem take_item) {
    if (!consume(open)) return expected(std::string("'") + open + "'");
    if (consume(close)) return {};
    do {
      WL_RETURN_IF_ERROR(take_item());
    } while (consume(','));
    if (!consume(close)) return expected(std::string("',' or '") + close + "'");
    return {};
  }

  static Error expected(const std::string& what);
  bool consume(char c) {
    if (!starts_with(c)) return false;
    ++pos_;
    return true;
  }

  void skip_space() {
    // Most values have none in front; everything below a space is white space or an error.
    if (pos_ < text_.size() && static_cast<unsigned char>(text_[pos_]) <= ' ') skip_long_space();
  }

  void skip_long_space();
  bool skip_value();
  bool skip_string();
  bool skip_nested();

  std::string_view text_;
  size_t pos_ = 0;
  std::deque<std::string>* unescaped_;
};

}  // namespace wl
