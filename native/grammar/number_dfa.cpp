#include "grammar/number_dfa.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "grammar/char_nfa.h"

namespace wl::grammar {
namespace {

constexpr int kMaxExponent = 400;            // doubles end at 308, and may have digits in front
constexpr double kMaxExactInteger = 0x1p53;  // integers up to here are doubles, all of them

CharSet chars_between(char first, char last) {
  return make_char_set({{static_cast<uint32_t>(first), static_cast<uint32_t>(last)}});
}

/// Removes what the digits do not need; zero is not negative.
Decimal normalized(Decimal number) {
  const size_t first = number.integer.find_first_not_of('0');
  number.integer.erase(0, std::min(first, number.integer.size()));
  if (number.integer.empty()) number.integer = "0";
  const size_t last = number.fraction.find_last_not_of('0');
  number.fraction.erase(last == std::string::npos ? 0 : last + 1);
  if (number.integer == "0" && number.fraction.empty()) number.is_negative = false;
  return number;
}

bool is_zero(const Decimal& number) { return number.integer == "0" && number.fraction.empty(); }

Decimal negated(Decimal number) {
  number.is_negative = !number.is_negative && !is_zero(number);
  return number;
}

double to_double(const Decimal& number) {
  const std::string text = (number.is_negative ? "-" : "") + number.integer + "." + number.fraction;
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The shortest digits that round to the value.
Decimal to_decimal(double value) {
  std::array<char, 400> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return parse_decimal({text.data(), end}).value_or(Decimal{});
}

/// The smallest positive number that is written.
Decimal smallest(bool is_integral) {
  if (is_integral) return {false, "1", ""};
  return {false, "0", std::string(kMaxFractionDigits - 1, '0') + "1"};
}

/// The least integer that is not below `number` >= 0, plus one if it is `number` itself.
Decimal next_integer(const Decimal& number) {
  std::string digits = number.integer;
  size_t i = digits.size();
  while (i > 0 && digits[i - 1] == '9') digits[--i] = '0';
  if (i == 0) {
    digits.insert(digits.begin(), '1');
  } else {
    ++digits[i - 1];
  }
  return {false, digits, ""};
}

int compare_magnitudes(const Decimal& a, const Decimal& b) {
  if (a.integer.size() != b.integer.size()) return a.integer.size() < b.integer.size() ? -1 : 1;
  if (const int order = a.integer.compare(b.integer)) return order;
  return a.fraction.compare(b.fraction);
}

/// Adds the numbers between two that are not negative.
class MagnitudeBuilder {
 public:
  MagnitudeBuilder(CharNfa* nfa, bool is_integral, int32_t accepting)
      : nfa_(nfa), is_integral_(is_integral), accepting_(accepting) {}

  void add(int32_t from, const Decimal& low, const std::optional<Decimal>& high) {
    low_ = &low;
    high_ = high ? &*high : nullptr;
    states_.clear();
    for (size_t length = low.integer.size(); length <= kMaxIntegerDigits; ++length) {
      if (high_ != nullptr && length > high_->integer.size()) return;
      Place place;
      place.digits_left = length;
      place.at_low = length == low.integer.size();
      place.at_high = high_ != nullptr && length == high_->integer.size();
      add_digits(from, place, length > 1 ? '1' : '0');
    }
  }

 private:
  /// A place in a number: while all digits so far are those of a bound, the bound goes on to say
  /// which digits may follow.
  struct Place {
    size_t digits_left = 0;      // of the integer part
    size_t fraction_digits = 0;  // read so far
    bool has_point = false;
    bool at_low = false, at_high = false;
    auto operator<=>(const Place&) const = default;
  };

  static char digit_of(const Decimal& bound, const Place& place) {
    if (!place.has_point) return bound.integer[bound.integer.size() - place.digits_left];
    return place.fraction_digits < bound.fraction.size() ? bound.fraction[place.fraction_digits]
                                                         : '0';
  }

  void add_digits(int32_t from, const Place& place, char first) {
    const char low = place.at_low ? digit_of(*low_, place) : '0';
    const char high = place.at_high ? digit_of(*high_, place) : '9';
    for (char digit = std::max(first, low); digit <= high; ++digit) {
      Place next = place;
      next.at_low = place.at_low && digit == low;
      next.at_high = place.at_high && digit == high;
      if (place.has_point) {
        ++next.fraction_digits;
      } else {
        --next.digits_left;
      }
      nfa_->add_edge(from, chars_between(digit, digit), state_at(next));
    }
  }

  int32_t state_at(const Place& place) {
    const auto [found, is_new] = states_.try_emplace(place, 0);
    if (!is_new) return found->second;
    const int32_t state = nfa_->add_state();
    found->second = state;
    const bool has_point_only = place.has_point && place.fraction_digits == 0;
    const bool may_end = place.digits_left == 0 && !has_point_only &&
                         !(place.at_low && place.fraction_digits < low_->fraction.size());
    if (may_end) nfa_->add_empty_edge(state, accepting_);
    if (place.has_point) {
      if (place.fraction_digits < kMaxFractionDigits) add_digits(state, place, '0');
    } else if (place.digits_left > 0) {
      add_digits(state, place, '0');
    } else if (!is_integral_) {
      Place behind_point = place;
      behind_point.has_point = true;
      nfa_->add_edge(state, chars_between('.', '.'), state_at(behind_point));
    }
    return state;
  }

  CharNfa* nfa_;
  bool is_integral_;
  int32_t accepting_;
  const Decimal* low_ = nullptr;
  const Decimal* high_ = nullptr;  // null: none
  std::map<Place, int32_t> states_;
};

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view number) {
  Decimal decimal;
  decimal.integer.clear();
  int exponent = 0;
  const size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  if (exponent_at < number.size()) {
    std::string_view digits = number.substr(exponent_at + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec;
    if (error != std::errc() || std::abs(exponent) > kMaxExponent) return std::nullopt;
  }
  bool has_point = false;
  for (const char c : number.substr(0, exponent_at)) {
    if (c == '-') {
      decimal.is_negative = true;
    } else if (c == '.') {
      has_point = true;
    } else {
      (has_point ? decimal.fraction : decimal.integer).push_back(c);
    }
  }
  for (; exponent > 0; --exponent) {
    decimal.integer.push_back(decimal.fraction.empty() ? '0' : decimal.fraction.front());
    if (!decimal.fraction.empty()) decimal.fraction.erase(0, 1);
  }
  for (; exponent < 0; ++exponent) {
    decimal.fraction.insert(decimal.fraction.begin(),
                            decimal.integer.empty() ? '0' : decimal.integer.back());
    if (!decimal.integer.empty()) decimal.integer.pop_back();
  }
  decimal = normalized(std::move(decimal));
  if (decimal.integer.size() + decimal.fraction.size() > 2 * kMaxExponent) return std::nullopt;
  return decimal;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.is_negative != b.is_negative) return a.is_negative ? -1 : 1;
  return a.is_negative ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
}

Decimal next_above(const Decimal& bound, bool is_integral) {
  if (is_zero(bound)) return smallest(is_integral);
  const double value = to_double(bound);
  if (!is_integral || std::abs(value) >= kMaxExactInteger) {
    return to_decimal(std::nextafter(value, std::numeric_limits<double>::infinity()));
  }
  if (!bound.is_negative) return next_integer(bound);
  // Towards zero: what is cut off a fraction, or one less.
  if (!bound.fraction.empty()) return normalized({true, bound.integer, ""});
  return to_decimal(value + 1);
}

Decimal next_below(const Decimal& bound, bool is_integral) {
  return negated(next_above(negated(bound), is_integral));
}

Result<CharDfa> numbers_in(const NumberRange& range) {
  CharNfa nfa;
  const int32_t start = nfa.add_state();
  const int32_t accepting = nfa.add_state();
  nfa.set_accepting(accepting);
  MagnitudeBuilder builder(&nfa, range.is_integral, accepting);
  if (!range.max || !range.max->is_negative) {
    const bool has_low = range.min && !range.min->is_negative;
    builder.add(start, has_low ? *range.min : Decimal{}, range.max);
  }
  if (!range.min || range.min->is_negative) {
    const int32_t behind_sign = nfa.add_state();
    nfa.add_edge(start, chars_between('-', '-'), behind_sign);
    const bool has_high = range.max && range.max->is_negative;
    const auto high = range.min ? std::optional(negated(*range.min)) : std::nullopt;
    builder.add(behind_sign, has_high ? negated(*range.max) : smallest(range.is_integral), high);
  }
  return determinize(nfa);
}

CharDfa multiples_of(uint32_t divisor) {
  // The state of a remainder r is r + 2; in front of it the start and what follows a sign.
  CharDfa dfa;
  dfa.states.resize(divisor + 2);
  const auto add_digits = [&](CharState* state, uint32_t remainder) {
    for (uint32_t digit = 0; digit < 10; ++digit) {
      const uint64_t next = (uint64_t{remainder} * 10 + digit) % divisor;
      state->edges.push_back({'0' + digit, '0' + digit, static_cast<int32_t>(next + 2)});
    }
  };
  dfa.states[0].edges.push_back({'-', '-', 1});
  add_digits(&dfa.states[0], 0);
  add_digits(&dfa.states[1], 0);
  for (uint32_t r = 0; r < divisor; ++r) add_digits(&dfa.states[r + 2], r);
  dfa.states[2].accepts = true;
  return minimized(dfa);
}

}  // namespace wl::grammar
