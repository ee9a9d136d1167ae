#pragma once
// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.

#include <cstdint>
#include <string>
#include <string_view>

namespace wl {

bool is_valid_utf8(std::string_view text);

/// Appends one code point; `code_point` must be a scalar value.
void append_utf8(uint32_t code_point, std::string* out);

}  // namespace wl
