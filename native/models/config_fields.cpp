#include "models/config_fields.h"

#include <cmath>
#include <cstdio>

namespace wl::models {

namespace {

std::string shown_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

FieldValue integer_field(int64_t value) {
  return {value, static_cast<double>(value), {}, {}, std::to_string(value)};
}
FieldValue number_field(double value) { return {{}, value, {}, {}, shown_number(value)}; }
FieldValue flag_field(bool value) { return {{}, {}, value, {}, value ? "true" : "false"}; }
FieldValue text_field(const std::string& value) { return {{}, {}, {}, value, quote_bytes(value)}; }
FieldValue other_field(std::string shown) { return {{}, {}, {}, {}, std::move(shown)}; }

int ConfigFields::required_int(const std::string& key, IntRange range) {
  if (!has(key)) fail(ErrorCode::kModelFormat, key + " is missing");
  return int_or(key, static_cast<int>(range.min), range);
}

int ConfigFields::int_or(const std::string& key, int fallback, IntRange range) {
  const auto value = find_(key);
  if (!value) return fallback;
  if (value->integer && *value->integer >= range.min && *value->integer <= range.max) {
    return static_cast<int>(*value->integer);
  }
  fail_value(key, *value,
             "an integer of " + std::to_string(range.min) + ".." + std::to_string(range.max));
  return fallback;
}

double ConfigFields::required_number(const std::string& key, NumberRange range) {
  if (!has(key)) fail(ErrorCode::kModelFormat, key + " is missing");
  return number_or(key, range.max, range);
}

double ConfigFields::number_or(const std::string& key, double fallback, NumberRange range) {
  const auto value = find_(key);
  if (!value) return fallback;
  // Written so that NaN fails.
  if (value->number && *value->number > range.above && *value->number <= range.max) {
    return *value->number;
  }
  fail_value(
      key, *value,
      "a number above " + shown_number(range.above) + " and up to " + shown_number(range.max));
  return fallback;
}

bool ConfigFields::bool_or(const std::string& key, bool fallback) {
  const auto value = find_(key);
  if (!value) return fallback;
  if (value->flag) return *value->flag;
  fail_value(key, *value, "true or false");
  return fallback;
}

std::string ConfigFields::text_or(const std::string& key, const std::string& fallback) {
  const auto value = find_(key);
  if (!value) return fallback;
  if (value->text) return *value->text;
  fail_value(key, *value, "a string");
  return fallback;
}

void ConfigFields::fail(ErrorCode code, const std::string& what) {
  if (status_.ok()) status_ = Status(code, source_ + ": " + what);
}

void ConfigFields::fail_value(const std::string& key, const FieldValue& value,
                              const std::string& expected) {
  fail(ErrorCode::kModelFormat, key + " is " + value.shown + ", expected " + expected);
}

}  // namespace wl::models
