#pragma once
// Typed, range-checked access to settings, whatever the container: GGUF keys or members of
// config.json. A failed read is recorded as a problem that names the key and the value, and answers
// its fallback, so that a reader lists its fields flatly and asks once whether there were problems.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace wl::models {

/// What one setting is called in each container; nullptr: it has no name there.
struct Key {
  const char* gguf;  // behind the architecture's prefix: "attention.head_count"
  const char* hf;    // "num_attention_heads"
};

/// One field as the file has it. A per-layer array counts as its element when all are equal.
struct FieldValue {
  std::optional<int64_t> integer;
  std::optional<double> number;  // set for integers too
  std::optional<bool> flag;
  std::optional<std::string> text;
  std::optional<std::vector<double>> numbers;  // an array of numbers or flags
  std::optional<std::vector<std::string>> texts;
  std::string shown;  // for messages: "2147483648", "an array of unequal values"

  /// Whether it says no more than its absence would: 0, false, "", no elements.
  bool is_neutral() const;
};

FieldValue integer_field(int64_t value);
FieldValue number_field(double value);
FieldValue flag_field(bool value);
FieldValue text_field(const std::string& value);
FieldValue numbers_field(std::vector<double> values);
FieldValue texts_field(std::vector<std::string> values);
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
  struct Source {
    std::string title;  // begins every message
    bool is_gguf = false;
    std::string prefix;              // of GGUF keys: "llama."
    std::vector<std::string> names;  // of all fields, as in the file
    std::function<std::optional<FieldValue>(const std::string& name)> find;
  };
  /// `problems` outlives the fields.
  ConfigFields(Source source, std::vector<Error>* problems)
      : source_(std::move(source)), problems_(problems) {}

  bool has(Key key);
  /// A number above 0: some settings say "off" by 0.
  bool has_positive(Key key);
  int required_int(Key key, IntRange range);
  int int_or(Key key, int fallback, IntRange range);
  double required_number(Key key, NumberRange range);
  double number_or(Key key, double fallback, NumberRange range);
  bool required_bool(Key key);
  bool bool_or(Key key, bool fallback);
  std::string text_or(Key key, const std::string& fallback);
  /// nullopt when absent or no array.
  std::optional<std::vector<double>> numbers(Key key);
  std::optional<std::vector<std::string>> texts(Key key);

  /// Records a problem of the caller's own.
  void fail(ErrorCode code, const std::string& what);
  /// Records that a setting says something that this build does not compute.
  void refuse(Key key, const std::string& why);

  /// The key's name in this container: "llama.attention.head_count".
  std::string name(Key key) const;
  /// Fields that nobody has read, as the file names them, without the prefix of GGUF keys.
  std::vector<std::string> unread() const;
  /// Records that a field of unread() is not computed, unless it is neutral.
  void refuse_unread(const std::string& name, const std::string& arch);

 private:
  std::optional<FieldValue> read(Key key);
  void fail_value(Key key, const FieldValue& value, const std::string& expected);

  Source source_;
  std::vector<Error>* problems_;
  std::set<std::string> read_names_;
};

}  // namespace wl::models
