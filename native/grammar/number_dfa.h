#pragma once
// Numbers within bounds, as automata over their decimal digits. No exponents, no "-0"; at most
// kMaxIntegerDigits digits in front of the point and kMaxFractionDigits behind it. Bounds are
// inclusive: so rounding to a double, which is monotonic, leads no number out of them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "grammar/char_dfa.h"

namespace wl::grammar {

constexpr size_t kMaxIntegerDigits = 19;
constexpr size_t kMaxFractionDigits = 20;

/// A decimal number, exactly.
struct Decimal {
  bool is_negative = false;   // never of zero
  std::string integer = "0";  // no leading zeros, but one digit at least
  std::string fraction;       // no trailing zeros
};

/// Of a JSON number; nullopt when it has more digits than a double could.
std::optional<Decimal> parse_decimal(std::string_view number);
/// Negative, zero or positive as `a` is less than, equal to or greater than `b`.
int compare(const Decimal& a, const Decimal& b);

struct NumberRange {
  std::optional<Decimal> min, max;
  bool is_integral = false;
};

/// The least number that an exclusive minimum lets in (the greatest, for a maximum), such that no
/// number beyond it rounds to the bound itself.
Decimal next_above(const Decimal& bound, bool is_integral);
Decimal next_below(const Decimal& bound, bool is_integral);

/// The numbers of the range. Errors: ERR_GRAMMAR, too large.
Result<CharDfa> numbers_in(const NumberRange& range);
/// The integers, of any number of digits, that `divisor` > 0 divides.
CharDfa multiples_of(uint32_t divisor);

}  // namespace wl::grammar
