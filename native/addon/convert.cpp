#include "addon/convert.h"

#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "addon/errors.h"
#include "addon/grammar_wrap.h"

namespace wl::addon {
namespace {

constexpr int64_t kMaxSafeInteger = (int64_t{1} << 53) - 1;
constexpr int kMaxBatchTokens = 1 << 20;
constexpr int64_t kMaxInt = INT32_MAX;
constexpr size_t kMaxStringBytes = 64 * 1024;  // paths and salts; far below what could hurt

[[noreturn]] void refuse(const std::string& name, const std::string& must_be) {
  throw ArgumentError(name + " must be " + must_be);
}

double number_from(const Napi::Value& value, const std::string& name) {
  if (!value.IsNumber()) refuse(name, "a number");
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!std::isfinite(number)) refuse(name, "a finite number");
  return number;
}

int64_t integer_from(const Napi::Value& value, const std::string& name, int64_t min, int64_t max) {
  const double number = number_from(value, name);
  if (number != std::trunc(number) || number < static_cast<double>(min) ||
      number > static_cast<double>(max)) {
    refuse(name, "an integer from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return static_cast<int64_t>(number);
}

std::string string_from(const Napi::Value& value, const std::string& name) {
  if (!value.IsString()) refuse(name, "a string");
  size_t num_bytes = 0;
  napi_get_value_string_utf8(value.Env(), value, nullptr, 0, &num_bytes);
  if (num_bytes > kMaxStringBytes) {
    refuse(name, "a string of at most " + std::to_string(kMaxStringBytes) + " bytes");
  }
  return value.As<Napi::String>().Utf8Value();
}

void check_typed_array(const Napi::Value& value, const std::string& name, napi_typedarray_type type,
                       const std::string& type_name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    refuse(name, type_name);
  }
  bool is_detached = false;
  napi_is_detached_arraybuffer(value.Env(), value.As<Napi::TypedArray>().ArrayBuffer(),
                               &is_detached);
  if (is_detached) refuse(name, type_name + " that still has its memory; this one is detached");
}

std::vector<int32_t> int32s_from(const Napi::Value& value, const std::string& name) {
  check_typed_array(value, name, napi_int32_array, "an Int32Array");
  const auto array = value.As<Napi::Int32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

std::vector<double> doubles_from(const Napi::Value& value, const std::string& name) {
  check_typed_array(value, name, napi_float64_array, "a Float64Array");
  const auto array = value.As<Napi::Float64Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

/// Reads the fields of one option object.
class OptionsReader {
 public:
  OptionsReader(const Napi::Value& value, const char* name) {
    if (!value.IsObject()) refuse(name, "an object");
    object_ = value.As<Napi::Object>();
  }
  double number(const char* field) const { return number_from(object_.Get(field), field); }
  int64_t integer(const char* field, int64_t min, int64_t max) const {
    return integer_from(object_.Get(field), field, min, max);
  }
  int int32(const char* field, int64_t min, int64_t max = kMaxInt) const {
    return static_cast<int>(integer(field, min, max));
  }
  std::string string(const char* field) const { return string_from(object_.Get(field), field); }
  std::string path(const char* field) const { return path_from_js(object_.Get(field), field); }
  std::vector<int32_t> int32s(const char* field) const {
    return int32s_from(object_.Get(field), field);
  }
  bool boolean(const char* field) const {
    const Napi::Value value = object_.Get(field);
    if (!value.IsBoolean()) refuse(field, "true or false");
    return value.As<Napi::Boolean>();
  }
  bool has(const char* field) const { return !object_.Get(field).IsUndefined(); }
  OptionsReader object(const char* field) const { return {object_.Get(field), field}; }
  std::vector<double> doubles(const char* field) const {
    return doubles_from(object_.Get(field), field);
  }
  /// Null: the field is not there.
  std::shared_ptr<const grammar::CompiledGrammar> grammar(const char* field) const {
    const Napi::Value value = object_.Get(field);
    return value.IsUndefined() ? nullptr : grammar_from_js(value, field);
  }
  /// The index of the field's text in `choices`.
  size_t choice(const char* field, std::initializer_list<std::string_view> choices) const {
    const Napi::Value value = object_.Get(field);
    const std::string text = value.IsString() ? string_from(value, field) : std::string();
    std::string listed;
    size_t index = 0;
    for (const std::string_view choice : choices) {
      if (text == choice) return index;
      listed += (index++ == 0 ? "\"" : ", \"") + std::string(choice) + "\"";
    }
    refuse(field, "one of " + listed);
  }

 private:
  Napi::Object object_;
};

std::vector<sampling::TokenBias> logit_bias_from(const OptionsReader& options) {
  if (!options.has("logitBias")) return {};
  const OptionsReader bias = options.object("logitBias");
  const std::vector<int32_t> tokens = bias.int32s("tokens");
  const std::vector<double> values = bias.doubles("values");
  if (tokens.size() != values.size()) refuse("logitBias", "as many values as tokens");
  std::vector<sampling::TokenBias> out;
  for (size_t i = 0; i < tokens.size(); ++i) out.push_back({tokens[i], values[i]});
  return out;
}

engine::SamplingParams sampling_from(const OptionsReader& options) {
  engine::SamplingParams sampling;
  sampling.temperature = options.number("temperature");
  sampling.top_k = options.int32("topK", 0);
  sampling.top_p = options.number("topP");
  sampling.min_p = options.number("minP");
  sampling.repetition_penalty = options.number("repetitionPenalty");
  sampling.frequency_penalty = options.number("frequencyPenalty");
  sampling.presence_penalty = options.number("presencePenalty");
  sampling.seed = static_cast<uint64_t>(options.integer("seed", 0, kMaxSafeInteger));
  sampling.logit_bias = logit_bias_from(options);
  return sampling;
}

backend::KvDType kv_type_from(const OptionsReader& options) {
  constexpr std::array kKvTypes = {backend::KvDType::kF16, backend::KvDType::kQ8_0,
                                   backend::KvDType::kF32};
  return kKvTypes[options.choice("kvType", {"f16", "q8_0", "f32"})];
}

void set_number(Napi::Object& object, const char* field, double value) {
  object.Set(field, Napi::Number::New(object.Env(), value));
}

}  // namespace

engine::OpenOptions open_options_from_js(const Napi::Value& value) {
  const OptionsReader options(value, "options");
  engine::OpenOptions out;
  out.model_path = options.path("modelPath");
  out.threads = options.int32("threads", 1, 1024);
  const std::initializer_list<std::string_view> isa_names = {"auto", "ref", "avx2", "avx512",
                                                             "amx"};
  out.isa = isa_names.begin()[options.choice("isa", isa_names)];
  constexpr std::array kActivations = {backend::Activations::kWide, backend::Activations::kInt8,
                                       backend::Activations::kFloat};
  out.activations = kActivations[options.choice("activations", {"wide", "8", "float"})];
  constexpr std::array<std::optional<DType>, 4> kQuantizations = {std::nullopt, DType::kQ8_0,
                                                                  DType::kQ4_0, DType::kQ4_K};
  out.quantization = kQuantizations[options.choice("quantize", {"none", "q8_0", "q4_0", "q4_k"})];
  out.kv_type = kv_type_from(options);
  out.kv_memory_bytes = options.integer("kvMemoryBytes", 1, kMaxSafeInteger);
  out.max_context_tokens = options.int32("maxContextTokens", 0);
  out.engine.max_batch_tokens = options.int32("maxBatchTokens", 1, kMaxBatchTokens);
  out.engine.max_running = options.int32("maxRunning", 1, 1 << 12);
  out.engine.max_queued = options.int32("maxQueued", 1, 1 << 20);
  out.engine.max_prefill_chunk = options.int32("maxPrefillChunk", 0, 1 << 20);
  out.engine.enable_prefix_cache = options.boolean("enablePrefixCache");
  return out;
}

engine::OpenOptions kv_needs_from_js(const Napi::Value& value) {
  const OptionsReader options(value, "needs");
  engine::OpenOptions out;
  out.model_path = options.path("modelPath");
  out.kv_type = kv_type_from(options);
  out.max_context_tokens = options.int32("maxContextTokens", 1);
  out.engine.max_batch_tokens = options.int32("maxBatchTokens", 1, kMaxBatchTokens);
  return out;
}

engine::RequestOptions request_from_js(const Napi::Value& value) {
  const OptionsReader options(value, "request");
  engine::RequestOptions out;
  out.tokens = options.int32s("tokens");
  out.tenant_salt = options.string("tenantSalt");
  out.sampling = sampling_from(options);
  out.max_output_tokens = options.int32("maxOutputTokens", 0);
  out.stop_token_ids = options.int32s("stopTokenIds");
  out.keep_sequence = options.boolean("keepSequence");
  out.prefill_only = options.boolean("prefillOnly");
  out.logits =
      static_cast<engine::LogitsMode>(options.choice("logits", {"none", "sampled", "all"}));
  if (options.has("logprobs")) {
    const OptionsReader logprobs = options.object("logprobs");
    out.logprobs = {logprobs.int32("numTop", 0), logprobs.boolean("ofPrompt")};
  }
  out.grammar = options.grammar("grammar");
  out.jump_forward = options.boolean("jumpForward");
  return out;
}

uint32_t id_from_js(const Napi::Value& value, const char* name) {
  return static_cast<uint32_t>(integer_from(value, name, 0, UINT32_MAX));
}

std::optional<int> count_from_js(const Napi::Value& value, const char* name) {
  if (value.IsUndefined()) return std::nullopt;
  return static_cast<int>(integer_from(value, name, 0, INT32_MAX));
}

std::string path_from_js(const Napi::Value& value, const char* name) {
  std::string path = string_from(value, name);
  if (path.empty() || path.find('\0') != std::string::npos) refuse(name, "a path");
  return path;
}

Napi::Array strings(Napi::Env env, const std::vector<std::string>& texts) {
  auto out = Napi::Array::New(env, texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    // A vocabulary is 50 to 260 thousand strings: handles are dropped one by one.
    const Napi::HandleScope scope(env);
    out.Set(static_cast<uint32_t>(i), Napi::String::New(env, texts[i]));
  }
  return out;
}

Napi::Object to_js(Napi::Env env, const engine::EngineInfo& info) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("arch", Napi::String::New(env, info.arch));
  out.Set("isa", Napi::String::New(env, info.isa));
  set_number(out, "numLayers", info.num_layers);
  set_number(out, "hidden", info.hidden);
  set_number(out, "vocab", info.vocab);
  set_number(out, "context", info.context);
  set_number(out, "numKvBlocks", info.num_kv_blocks);
  set_number(out, "threads", info.threads);
  set_number(out, "weightBytes", static_cast<double>(info.weight_bytes));
  set_number(out, "kvBytes", static_cast<double>(info.kv_bytes));
  return out;
}

Napi::Object to_js(Napi::Env env, const engine::EngineStats& stats) {
  Napi::Object out = Napi::Object::New(env);
  set_number(out, "numWaiting", stats.num_waiting);
  set_number(out, "numRunning", stats.num_running);
  set_number(out, "numLiveSequences", stats.num_live_sequences);
  set_number(out, "numBlocks", stats.num_blocks);
  set_number(out, "numFreeBlocks", stats.num_free_blocks);
  set_number(out, "numCachedBlocks", stats.num_cached_blocks);
  set_number(out, "blockSize", stats.block_size);
  set_number(out, "numSteps", static_cast<double>(stats.num_steps));
  set_number(out, "prefillTokens", static_cast<double>(stats.prefill_tokens));
  set_number(out, "cachedTokens", static_cast<double>(stats.cached_tokens));
  set_number(out, "decodeTokens", static_cast<double>(stats.decode_tokens));
  set_number(out, "hashedTokens", static_cast<double>(stats.hashed_tokens));
  set_number(out, "numPreemptions", static_cast<double>(stats.num_preemptions));
  set_number(out, "forcedTokens", static_cast<double>(stats.forced_tokens));
  set_number(out, "maskWaits", static_cast<double>(stats.mask_waits));
  return out;
}

}  // namespace wl::addon
