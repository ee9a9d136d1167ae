#include "models/config_fields.h"

#include <cstdio>

namespace wl::models {

namespace {

std::string shown_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

FieldValue shown_field(std::string shown) {
  FieldValue field;
  field.shown = std::move(shown);
  return field;
}

}  // namespace

bool FieldValue::is_neutral() const {
  if (flag) return !*flag;
  if (number) return *number == 0.0;
  if (text) return text->empty();
  return (numbers && numbers->empty()) || (texts && texts->empty());
}

FieldValue integer_field(int64_t value) {
  FieldValue field = shown_field(std::to_string(value));
  field.integer = value;
  field.number = static_cast<double>(value);
  return field;
}
FieldValue number_field(double value) {
  FieldValue field = shown_field(shown_number(value));
  field.number = value;
  return field;
}
FieldValue flag_field(bool value) {
  FieldValue field = shown_field(value ? "true" : "false");
  field.flag = value;
  return field;
}
FieldValue text_field(const std::string& value) {
  FieldValue field = shown_field(quote_bytes(value));
  field.text = value;
  return field;
}
FieldValue numbers_field(std::vector<double> values) {
  FieldValue field = shown_field("an array of " + std::to_string(values.size()) + " numbers");
  field.numbers = std::move(values);
  return field;
}
FieldValue texts_field(std::vector<std::string> values) {
  FieldValue field = shown_field("an array of " + std::to_string(values.size()) + " strings");
  field.texts = std::move(values);
  return field;
}
FieldValue other_field(std::string shown) { return shown_field(std::move(shown)); }

bool ConfigFields::has(Key key) { return read(key).has_value(); }

bool ConfigFields::has_positive(Key key) {
  const auto value = read(key);
  return value && value->number && *value->number > 0;
}

int ConfigFields::required_int(Key key, IntRange range) {
  if (!has(key)) fail(ErrorCode::kModelFormat, name(key) + " is missing");
  return int_or(key, static_cast<int>(range.min), range);
}

int ConfigFields::int_or(Key key, int fallback, IntRange range) {
  const auto value = read(key);
  if (!value) return fallback;
  if (value->integer && *value->integer >= range.min && *value->integer <= range.max) {
    return static_cast<int>(*value->integer);
  }
  fail_value(key, *value,
             "an integer of " + std::to_string(range.min) + ".." + std::to_string(range.max));
  return fallback;
}

double ConfigFields::required_number(Key key, NumberRange range) {
  if (!has(key)) fail(ErrorCode::kModelFormat, name(key) + " is missing");
  return number_or(key, range.max, range);
}

double ConfigFields::number_or(Key key, double fallback, NumberRange range) {
  const auto value = read(key);
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

bool ConfigFields::required_bool(Key key) {
  if (!has(key)) fail(ErrorCode::kModelFormat, name(key) + " is missing");
  return bool_or(key, false);
}

bool ConfigFields::bool_or(Key key, bool fallback) {
  const auto value = read(key);
  if (!value) return fallback;
  if (value->flag) return *value->flag;
  fail_value(key, *value, "true or false");
  return fallback;
}

std::string ConfigFields::text_or(Key key, const std::string& fallback) {
  const auto value = read(key);
  if (!value) return fallback;
  if (value->text) return *value->text;
  fail_value(key, *value, "a string");
  return fallback;
}

std::optional<std::vector<double>> ConfigFields::numbers(Key key) {
  const auto value = read(key);
  return value ? value->numbers : std::nullopt;
}

std::optional<std::vector<std::string>> ConfigFields::texts(Key key) {
  const auto value = read(key);
  return value ? value->texts : std::nullopt;
}

void ConfigFields::fail(ErrorCode code, const std::string& what) {
  problems_->push_back({code, source_.title + ": " + what});
}

void ConfigFields::refuse(Key key, const std::string& why) {
  const auto value = read(key);
  fail(ErrorCode::kModelArch, name(key) + " is " + (value ? value->shown : "absent") + ", " + why);
}

std::string ConfigFields::name(Key key) const {
  const char* suffix = source_.is_gguf ? key.gguf : key.hf;
  return suffix == nullptr ? std::string() : source_.prefix + suffix;
}

std::vector<std::string> ConfigFields::unread() const {
  std::vector<std::string> out;
  for (const std::string& name : source_.names) {
    if (name.starts_with(source_.prefix) && !read_names_.contains(name)) {
      out.push_back(name.substr(source_.prefix.size()));
    }
  }
  return out;
}

void ConfigFields::refuse_unread(const std::string& name, const std::string& arch) {
  const auto value = source_.find(source_.prefix + name);
  if (!value || value->is_neutral()) return;
  fail(ErrorCode::kModelArch, source_.prefix + escape_bytes(name) + " is " + value->shown +
                                  ", which this build does not compute for " + arch);
}

std::optional<FieldValue> ConfigFields::read(Key key) {
  const std::string full_name = name(key);
  if (full_name.empty() || !source_.find) return std::nullopt;
  read_names_.insert(full_name);
  return source_.find(full_name);
}

void ConfigFields::fail_value(Key key, const FieldValue& value, const std::string& expected) {
  fail(ErrorCode::kModelFormat, name(key) + " is " + value.shown + ", expected " + expected);
}

}  // namespace wl::models
