#include "addon/grammar_wrap.h"

#include <string>
#include <utility>

#include "addon/convert.h"
#include "addon/errors.h"

namespace wl::addon {
namespace {

using grammar::CompiledGrammar;
using grammar::Matcher;
using SharedGrammar = std::shared_ptr<const CompiledGrammar>;

// 128 random bits: no other add-on tags its objects so.
constexpr napi_type_tag kGrammarTag = {0x5c1f0a37d2b94e68u, 0x9be3716f80a4d5c2u};

/// A matcher and the size of its vocabulary.
struct JsMatcher {
  Matcher matcher;
  size_t num_tokens;
};
using SharedMatcher = std::shared_ptr<JsMatcher>;

Napi::Value accept(const Napi::CallbackInfo& info, JsMatcher& self) {
  const uint32_t token = id_from_js(info[0], "token");
  const bool fits = token < self.num_tokens;
  return Napi::Boolean::New(info.Env(),
                            fits && self.matcher.accept(static_cast<grammar::TokenId>(token)));
}

Napi::Value mask(const Napi::CallbackInfo& info, JsMatcher& self) {
  auto words = Napi::Uint32Array::New(info.Env(), (self.num_tokens + 31) / 32);
  self.matcher.fill_mask({words.Data(), words.ElementLength()});
  return words;
}

Napi::Value is_complete(const Napi::CallbackInfo& info, JsMatcher& self) {
  return Napi::Boolean::New(info.Env(), self.matcher.is_complete());
}

Napi::Value forced_token(const Napi::CallbackInfo& info, JsMatcher& self) {
  const auto token = self.matcher.forced_token();
  return token ? Napi::Number::New(info.Env(), *token) : info.Env().Undefined();
}

Napi::Value new_matcher(Napi::Env env, const SharedGrammar& grammar) {
  const auto self = std::make_shared<JsMatcher>(JsMatcher{Matcher(grammar), grammar->num_tokens()});
  Napi::Object object = Napi::Object::New(env);
  const auto add = [&](const char* name,
                       Napi::Value (*function)(const Napi::CallbackInfo&, JsMatcher&)) {
    const auto entry_point = [self, function](const Napi::CallbackInfo& call) {
      return guarded(call.Env(), [&] { return function(call, *self); });
    };
    object.Set(name, Napi::Function::New(env, entry_point, name));
  };
  add("accept", accept);
  add("mask", mask);
  add("isComplete", is_complete);
  add("forcedToken", forced_token);
  return object;
}

}  // namespace

Napi::Object to_js(Napi::Env env, SharedGrammar grammar) {
  Napi::Object object = Napi::Object::New(env);
  const auto matcher = [grammar](const Napi::CallbackInfo& call) {
    return guarded(call.Env(), [&] { return new_matcher(call.Env(), grammar); });
  };
  object.Set("matcher", Napi::Function::New(env, matcher, "matcher"));
  auto held = std::make_unique<SharedGrammar>(std::move(grammar));
  const auto release = [](napi_env, void* data, void*) {
    delete static_cast<SharedGrammar*>(data);
  };
  if (napi_wrap(env, object, held.get(), release, nullptr, nullptr) != napi_ok) {
    throw Napi::Error::New(env);
  }
  held.release();
  object.TypeTag(&kGrammarTag);
  return object;
}

SharedGrammar grammar_from_js(const Napi::Value& value, const char* name) {
  void* held = nullptr;
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kGrammarTag) ||
      napi_unwrap(value.Env(), value, &held) != napi_ok) {
    throw ArgumentError(std::string(name) + " must be a grammar that compileGrammar made");
  }
  return *static_cast<SharedGrammar*>(held);
}

}  // namespace wl::addon
