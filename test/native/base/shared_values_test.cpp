#include "base/shared_values.h"

#include "check.h"

using Values = wl::SharedValues<int>;
using Made = wl::Result<Values::Shared>;

namespace {

Made make(int value) { return std::make_shared<const int>(value); }

}  // namespace

WL_TEST("shared values: a key is made once while somebody holds it, and again afterwards") {
  Values values;
  int num_made = 0;
  const auto next = [&] { return make(++num_made); };
  auto first = values.find_or_make("a", next).value();
  WL_CHECK(values.find_or_make("a", next).value() == first);
  WL_CHECK_EQ(*values.find_or_make("b", next).value(), 2);
  first.reset();
  WL_CHECK_EQ(*values.find_or_make("a", next).value(), 3);
}

WL_TEST("shared values: what could not be made is tried again") {
  Values values;
  const auto failing = []() -> Made { return {wl::ErrorCode::kModelFile, "is away"}; };
  WL_CHECK(!values.find_or_make("a", failing).ok());
  WL_CHECK_EQ(*values.find_or_make("a", [] { return make(7); }).value(), 7);
}
