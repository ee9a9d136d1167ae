#pragma once
// Typed, range-checked access to hyperparameters, whatever the container: GGUF keys or members of
// config.json. The first failure sticks and names the key and the value; later reads answer their
// fallback, so that a reader lists its fields flatly and asks `status()` once.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace wl::models {

/// One field as the file has it. A per-layer array counts as its element when all are equal.
struct FieldValue {
  std::optional<int64_t> integer;
  std::optional<double> number;  // set for integers too
  std::optional<bool> flag;
  std::optional<std::string> text;
  std::string shown;  // for messages: "2147483648", "an array of unequal values"
};

FieldValue integer_field(int64_t value);
FieldValue number_field(double value);
FieldValue flag_field(bool value);
FieldValue text_field(const std::string& value);
/// A value of a kind that no field has.
FieldValue other_field(std::string shown);

struct IntRange {
  int64_t min, max;
};
struct NumberRange {
  double above, max;  // above < value <= max, finite
};

class ConfigFields {
 public:
  /// `find` answers nullopt for an absent field; `source` begins every message.
  using Find = std::function<std::optional<FieldValue>(const std::string& key)>;
  ConfigFields(std::string source, Find find)
      : source_(std::move(source)), find_(std::move(find)) {}

  bool has(const std::string& key) const { return find_(key).has_value(); }
  int required_int(const std::string& key, IntRange range);
  int int_or(const std::string& key, int fallback, IntRange range);
  double required_number(const std::string& key, NumberRange range);
  double number_or(const std::string& key, double fallback, NumberRange range);
  bool bool_or(const std::string& key, bool fallback);
  std::string text_or(const std::string& key, const std::string& fallback);

  /// Records a failure of the caller's own, unless one is there already.
  void fail(ErrorCode code, const std::string& what);
  const Status& status() const { return status_; }

 private:
  void fail_value(const std::string& key, const FieldValue& value, const std::string& expected);

  std::string source_;
  Find find_;
  Status status_;
};

}  // namespace wl::models
