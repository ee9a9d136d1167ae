#pragma once
// Escapes and character classes of regular expressions (regex.h). Each function is called at the
// first character of what it reads, and returns false once the cursor has an error.

#include <cstdint>
#include <optional>

#include "grammar/char_set.h"
#include "grammar/regex_cursor.h"

namespace wl::grammar {

/// What an escape stands for.
struct RegexChars {
  std::optional<uint32_t> character;  // nullopt: the set
  CharSet set;
};

/// An escape, of one character or of a set.
bool parse_escape(RegexCursor& in, RegexChars* out);
/// `[...]`
bool parse_class(RegexCursor& in, bool ignores_ascii_case, CharSet* out);

}  // namespace wl::grammar
