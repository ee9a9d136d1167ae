#pragma once
// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wl {

struct Utf8Char {
  uint32_t code_point;
  uint32_t num_bytes;
};
/// What stands where no character begins.
constexpr uint32_t kNoCharacter = 0xffffffff;

/// The character at `pos` < text.size(). A byte that begins none: {kNoCharacter, 1}.
Utf8Char char_at(std::string_view text, size_t pos);

/// Where the character begins that ends at `pos` > 0, in terms of char_at.
size_t char_before(std::string_view text, size_t pos);

bool is_valid_utf8(std::string_view text);

/// Appends one code point; `code_point` must be a scalar value.
void append_utf8(uint32_t code_point, std::string* out);

}  // namespace wl
