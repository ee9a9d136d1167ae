#include "models/config_source.h"

#include <algorithm>

namespace wl::models {

namespace {

using loader::MetaValue;

constexpr const char* kHfTitle = "config.json";

template <class T>
bool is_uniform(const std::vector<T>& values) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [&](const T& v) { return v == values[0]; });
}

struct FieldOfMeta {
  FieldValue operator()(bool value) const { return flag_field(value); }
  FieldValue operator()(int64_t value) const { return integer_field(value); }
  FieldValue operator()(uint64_t value) const {
    return value <= static_cast<uint64_t>(INT64_MAX) ? integer_field(static_cast<int64_t>(value))
                                                     : other_field(std::to_string(value));
  }
  FieldValue operator()(double value) const { return number_field(value); }
  FieldValue operator()(const std::string& value) const { return text_field(value); }
  FieldValue operator()(const loader::MetaArrayI& values) const {
    FieldValue field = is_uniform(values) ? integer_field(values[0]) : FieldValue();
    field.numbers.emplace(values.begin(), values.end());
    if (!field.integer) field.shown = "an array of unequal values (one for each layer)";
    return field;
  }
  FieldValue operator()(const loader::MetaArrayF& values) const { return numbers_field(values); }
  FieldValue operator()(const loader::MetaArrayS& values) const { return texts_field(values); }
};

FieldValue field_of_array(const JsonArray& array) {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (const JsonValue& element : array) {
    if (const auto flag = element.as_bool()) numbers.push_back(*flag ? 1.0 : 0.0);
    if (const auto number = element.as_number()) numbers.push_back(*number);
    if (const std::string* text = element.as_string()) texts.push_back(*text);
  }
  if (numbers.size() == array.size()) return numbers_field(std::move(numbers));
  if (texts.size() == array.size()) return texts_field(std::move(texts));
  return other_field("an array of mixed values");
}

FieldValue field_of_json(const JsonValue& value) {
  if (const auto flag = value.as_bool()) return flag_field(*flag);
  if (const auto integer = value.as_int()) return integer_field(*integer);
  if (const auto number = value.as_number()) return number_field(*number);
  if (const std::string* text = value.as_string()) return text_field(*text);
  if (const JsonArray* array = value.as_array()) return field_of_array(*array);
  return other_field("an object");
}

ConfigFields no_fields(std::vector<Error>* problems) { return ConfigFields({}, problems); }

ConfigFields gguf_fields(const loader::ModelFile& file, const std::string& prefix,
                         std::vector<Error>* problems) {
  ConfigFields::Source source;
  source.title = "GGUF metadata";
  source.is_gguf = true;
  source.prefix = prefix;
  for (const auto& [key, value] : file.metadata) source.names.push_back(key);
  source.find = [&file](const std::string& name) -> std::optional<FieldValue> {
    const auto found = file.metadata.find(name);
    if (found == file.metadata.end()) return std::nullopt;
    return std::visit(FieldOfMeta{}, found->second.v);
  };
  return ConfigFields(std::move(source), problems);
}

/// A member that is there and not null: null counts as absent, as in transformers.
const JsonValue* find_set(const JsonValue* object, const std::string& name) {
  const JsonValue* value = object != nullptr ? object->find(name) : nullptr;
  return value != nullptr && !value->is_null() ? value : nullptr;
}

/// Fields of one JSON object; none when `object` is nullptr.
ConfigFields json_fields(const std::string& title, const JsonValue* object,
                         std::vector<Error>* problems) {
  ConfigFields::Source source;
  source.title = title;
  if (object != nullptr && object->as_object() != nullptr) {
    for (const auto& [name, value] : *object->as_object()) {
      if (!value.is_null()) source.names.push_back(name);
    }
  }
  source.find = [object](const std::string& name) -> std::optional<FieldValue> {
    const JsonValue* value = find_set(object, name);
    return value != nullptr ? std::optional(field_of_json(*value)) : std::nullopt;
  };
  return ConfigFields(std::move(source), problems);
}

std::string text_member(const JsonValue* object, const std::string& name) {
  const JsonValue* value = find_set(object, name);
  const std::string* text = value != nullptr ? value->as_string() : nullptr;
  return text != nullptr ? *text : std::string();
}

std::optional<ConfigSource> open_gguf(const loader::ModelFile& file, std::vector<Error>* problems) {
  constexpr Key kArchitecture{"general.architecture", nullptr};
  ConfigFields root = gguf_fields(file, "", problems);
  const std::string architecture = root.text_or(kArchitecture, "");
  if (architecture.empty()) {
    if (problems->empty()) root.fail(ErrorCode::kModelFormat, "general.architecture is missing");
    return std::nullopt;
  }
  const std::string prefix = architecture + ".";
  return ConfigSource{file,
                      architecture,
                      gguf_fields(file, prefix, problems),
                      gguf_fields(file, prefix + "rope.", problems),
                      no_fields(problems),
                      {},
                      nullptr};
}

std::optional<ConfigSource> open_hf(const loader::ModelFile& file, std::vector<Error>* problems) {
  auto parsed = parse_json(file.config_json);
  if (!parsed.ok()) {
    problems->push_back({parsed.error().code, kHfTitle + (": " + parsed.error().message)});
    return std::nullopt;
  }
  const auto json = std::make_shared<const JsonValue>(std::move(parsed).value());
  const JsonValue* root = json.get();
  if (root->as_object() == nullptr) {
    problems->push_back({ErrorCode::kModelFormat, std::string(kHfTitle) + ": is no JSON object"});
    return std::nullopt;
  }
  const JsonValue* text_config = find_set(root, "text_config");
  const JsonValue* config = text_config != nullptr ? text_config : root;
  const JsonValue* rope = find_set(config, "rope_parameters");
  const JsonValue* local_rope = find_set(rope, "sliding_attention");
  if (const JsonValue* full = find_set(rope, "full_attention")) rope = full;
  if (rope == nullptr) rope = find_set(config, "rope_scaling");
  const JsonValue* quantization = find_set(config, "quantization_config");
  if (quantization == nullptr) quantization = find_set(root, "quantization_config");

  const std::string title = kHfTitle;
  ConfigSource source{file,
                      text_member(root, "model_type"),
                      json_fields(title, config, problems),
                      json_fields(title + " rope settings", rope, problems),
                      json_fields(title + " rope settings of sliding layers", local_rope, problems),
                      {},
                      json};
  if (source.architecture.empty()) source.architecture = text_member(config, "model_type");
  if (quantization != nullptr) {
    source.quantization = text_member(quantization, "quant_method");
    if (source.quantization.empty()) source.quantization = "of unknown method";
  }
  return source;
}

}  // namespace

int64_t ConfigSource::num_tokens() const {
  const auto found = file.metadata.find("tokenizer.ggml.tokens");
  if (found == file.metadata.end()) return 0;
  const auto* tokens = std::get_if<loader::MetaArrayS>(&found->second.v);
  return tokens != nullptr ? static_cast<int64_t>(tokens->size()) : 0;
}

std::optional<ConfigSource> open_config(const loader::ModelFile& file,
                                        std::vector<Error>* problems) {
  return file.container == loader::Container::kGguf ? open_gguf(file, problems)
                                                    : open_hf(file, problems);
}

}  // namespace wl::models
