#include "addon/inspection.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>

#include "addon/convert.h"

namespace wl::addon {
namespace {

template <class Number>
Napi::Value float64s(Napi::Env env, const std::vector<Number>& numbers) {
  auto out = Napi::Float64Array::New(env, numbers.size());
  std::transform(numbers.begin(), numbers.end(), out.Data(),
                 [](Number number) { return static_cast<double>(number); });
  return out;
}

Napi::Value to_js(Napi::Env env, const loader::MetaValue& value) {
  return std::visit(
      [env](const auto& v) -> Napi::Value {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, bool>) {
          return Napi::Boolean::New(env, v);
        } else if constexpr (std::is_arithmetic_v<V>) {
          return Napi::Number::New(env, static_cast<double>(v));
        } else if constexpr (std::is_same_v<V, std::string>) {
          return Napi::String::New(env, v);
        } else if constexpr (std::is_same_v<V, loader::MetaArrayS>) {
          return strings(env, v);
        } else {
          return float64s(env, v);
        }
      },
      value.v);
}

/// Vocabularies stay native: hundreds of thousands of JS strings cost seconds that nobody needs.
constexpr size_t kMaxArrayElements = 4096;

bool is_carried(const loader::MetaValue& value) {
  return std::visit(
      [](const auto& v) {
        using V = std::decay_t<decltype(v)>;
        constexpr bool kIsArray = std::is_same_v<V, loader::MetaArrayI> ||
                                  std::is_same_v<V, loader::MetaArrayF> ||
                                  std::is_same_v<V, loader::MetaArrayS>;
        if constexpr (kIsArray) return v.size() <= kMaxArrayElements;
        return true;
      },
      value.v);
}

/// Keys come from the file: defined, not assigned, so that "__proto__" is a key like any other.
Napi::Object metadata_to_js(Napi::Env env, const models::Inspection& inspection) {
  Napi::Object out = Napi::Object::New(env);
  for (const auto& [key, value] : inspection.metadata) {
    if (!is_carried(value)) continue;
    out.DefineProperty(Napi::PropertyDescriptor::Value(Napi::String::New(env, key),
                                                       to_js(env, value), napi_default_jsproperty));
  }
  return out;
}

Napi::Array tensors_to_js(Napi::Env env, const std::vector<models::TensorSummary>& tensors) {
  Napi::Array out = Napi::Array::New(env, tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const models::TensorSummary& tensor = tensors[i];
    Napi::Array shape = Napi::Array::New(env, tensor.shape.size());
    for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
      shape.Set(static_cast<uint32_t>(dim), static_cast<double>(tensor.shape[dim]));
    }
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("name", tensor.name);
    entry.Set("type", tensor.type);
    entry.Set("shape", shape);
    entry.Set("bytes", static_cast<double>(tensor.num_bytes));
    out.Set(static_cast<uint32_t>(i), entry);
  }
  return out;
}

Napi::Array refusals_to_js(Napi::Env env, const std::vector<Error>& refusals) {
  Napi::Array out = Napi::Array::New(env, refusals.size());
  for (size_t i = 0; i < refusals.size(); ++i) {
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("code", error_code_name(refusals[i].code));
    entry.Set("message", refusals[i].message);
    out.Set(static_cast<uint32_t>(i), entry);
  }
  return out;
}

Napi::Array kv_costs_to_js(Napi::Env env, const std::vector<models::KvCost>& costs) {
  Napi::Array out = Napi::Array::New(env, costs.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("type", costs[i].type);
    entry.Set("bytesPerToken", static_cast<double>(costs[i].memory.per_token));
    entry.Set("windowBytes", static_cast<double>(costs[i].memory.windows));
    out.Set(static_cast<uint32_t>(i), entry);
  }
  return out;
}

void set_features(Napi::Object* out, const models::ModelConfig& config) {
  const auto slides = [](const models::LayerConfig& layer) { return layer.window > 0; };
  const auto sliding = std::find_if(config.layers.begin(), config.layers.end(), slides);
  out->Set("slidingWindow", sliding == config.layers.end() ? 0 : sliding->window);
  out->Set("numSlidingLayers",
           static_cast<double>(std::count_if(config.layers.begin(), config.layers.end(), slides)));
  out->Set("ropeScaling", config.ropes.empty() ? std::string() : config.ropes[0].scaling);
  out->Set("numExperts", config.moe.num_experts);
  out->Set("numExpertsUsed", config.moe.num_used);
}

}  // namespace

Napi::Object to_js(Napi::Env env, const models::Inspection& inspection) {
  const auto& config = inspection.config;
  const bool is_gguf = inspection.container == loader::Container::kGguf;
  Napi::Object out = Napi::Object::New(env);
  out.Set("container", is_gguf ? "gguf" : "safetensors");
  out.Set("arch", config.arch);
  out.Set("context", config.context);
  out.Set("numLayers", config.num_layers);
  out.Set("hidden", config.hidden);
  out.Set("ffn", config.ffn);
  out.Set("numHeads", config.num_heads);
  out.Set("numKvHeads", config.num_kv_heads);
  out.Set("headDim", config.head_dim);
  out.Set("vocab", config.vocab);
  out.Set("weightBytes", static_cast<double>(inspection.weight_bytes));
  out.Set("kvCosts", kv_costs_to_js(env, inspection.kv_costs));
  out.Set("tensors", tensors_to_js(env, inspection.tensors));
  out.Set("metadata", metadata_to_js(env, inspection));
  set_features(&out, config);
  out.Set("refusals", refusals_to_js(env, inspection.refusals));
  return out;
}

}  // namespace wl::addon
