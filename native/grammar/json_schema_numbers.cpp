#include "grammar/json_schema_numbers.h"

#include <memory>
#include <string>

#include "grammar/encoded_dfa.h"
#include "grammar/json_text.h"
#include "grammar/number_dfa.h"

namespace wl::grammar {

Result<ExprPtr> schema_number_expr(const NumberShape& shape) {
  if (!shape.range.min && !shape.range.max && shape.divisor == 1) {
    return match(shape.range.is_integral ? json_integer() : json_number());
  }
  if (shape.divisor > kMaxDivisor) {
    return {ErrorCode::kGrammar,
            "multipleOf of more than " + std::to_string(kMaxDivisor) + " is not supported"};
  }
  auto numbers = numbers_in(shape.range);
  if (numbers.ok() && shape.divisor > 1) {
    numbers = intersection(numbers.value(), multiples_of(shape.divisor));
  }
  if (!numbers.ok()) {
    return {ErrorCode::kGrammar, "multipleOf with bounds " + numbers.error().message};
  }
  if (numbers.value().is_empty()) return choice({});
  return match(std::make_shared<const ByteDfa>(encoded_dfa(numbers.value())));
}

}  // namespace wl::grammar
