#include "addon/tokenizer_wrap.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "addon/errors.h"
#include "addon/grammar_wrap.h"
#include "addon/promise_worker.h"
#include "grammar/grammar_cache.h"
#include "grammar/grammar_spec.h"

namespace wl::addon {
namespace {

using tokenizer::EncodeOptions;
using tokenizer::TokenId;
using tokenizer::Tokenizer;
using SharedTokenizer = std::shared_ptr<const Tokenizer>;

/// Lone surrogates become U+FFFD, as toWellFormed() has it.
std::string text_from(const Napi::Value& value) {
  if (!value.IsString()) throw ArgumentError("text must be a string");
  return value.As<Napi::String>().Utf8Value();
}

EncodeOptions options_from(const Napi::Value& control_tokens, const Napi::Value& starts_prompt) {
  if (!control_tokens.IsString()) throw ArgumentError("controlTokens must be a string");
  if (!starts_prompt.IsBoolean()) throw ArgumentError("startsPrompt must be a boolean");
  const std::string name = control_tokens.As<Napi::String>().Utf8Value();
  EncodeOptions options;
  options.starts_prompt = starts_prompt.As<Napi::Boolean>().Value();
  if (name == "text") {
    options.control_tokens = EncodeOptions::ControlTokens::kAsText;
  } else if (name == "parsed") {
    options.control_tokens = EncodeOptions::ControlTokens::kParsed;
  } else if (name == "guarded") {
    options.control_tokens = EncodeOptions::ControlTokens::kGuarded;
  } else {
    throw ArgumentError("controlTokens must be \"text\", \"parsed\" or \"guarded\"");
  }
  return options;
}

Napi::Int32Array ids_to_js(Napi::Env env, const std::vector<TokenId>& ids) {
  auto out = Napi::Int32Array::New(env, ids.size());
  std::copy(ids.begin(), ids.end(), out.Data());
  return out;
}

Napi::Array control_tokens_to_js(Napi::Env env, const Tokenizer& tokenizer) {
  Napi::Array out = Napi::Array::New(env);
  for (const tokenizer::SpecialToken& token : tokenizer.special_tokens()) {
    if (!token.is_control) continue;
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("id", token.id);
    entry.Set("text", token.text);
    out.Set(out.Length(), entry);
  }
  return out;
}

Napi::Object facts_to_js(Napi::Env env, const Tokenizer& tokenizer) {
  const tokenizer::TokenizerFacts& facts = tokenizer.facts();
  const tokenizer::TokenBytes& token_bytes = tokenizer.token_bytes();
  Napi::Object out = Napi::Object::New(env);
  out.Set("kind", facts.kind);
  out.Set("vocabSize", static_cast<double>(tokenizer.num_tokens()));
  if (facts.bos_id) out.Set("bosId", *facts.bos_id);
  out.Set("addsBos", facts.adds_bos);
  out.Set("endIds", ids_to_js(env, facts.end_ids));
  out.Set("needsNfc", facts.needs_nfc);
  out.Set("stripsLeadingSpace", facts.strips_leading_space);
  if (facts.warning) out.Set("warning", *facts.warning);
  out.Set("controlTokens", control_tokens_to_js(env, tokenizer));
  auto bytes = Napi::Uint8Array::New(env, token_bytes.bytes.size());
  std::copy(token_bytes.bytes.begin(), token_bytes.bytes.end(), bytes.Data());
  out.Set("bytes", bytes);
  auto starts = Napi::Uint32Array::New(env, token_bytes.starts.size());
  std::copy(token_bytes.starts.begin(), token_bytes.starts.end(), starts.Data());
  out.Set("byteStarts", starts);
  return out;
}

Napi::Value encode(const Napi::CallbackInfo& info, const SharedTokenizer& tokenizer) {
  const std::string text = text_from(info[0]);
  return ids_to_js(info.Env(), tokenizer->encode(text, options_from(info[1], info[2])));
}

Napi::Value encode_async(const Napi::CallbackInfo& info, const SharedTokenizer& tokenizer) {
  const EncodeOptions options = options_from(info[1], info[2]);
  using Ids = std::vector<TokenId>;
  return run_async<Ids>(
      info.Env(), "warmloop encode",
      [tokenizer, options, text = text_from(info[0])] { return tokenizer->encode(text, options); },
      ids_to_js);
}

Napi::Value find_token(const Napi::CallbackInfo& info, const SharedTokenizer& tokenizer) {
  const auto id = tokenizer->find(text_from(info[0]));
  return id ? Napi::Number::New(info.Env(), *id) : info.Env().Undefined();
}

std::string spec_from(const Napi::Value& value) {
  if (!value.IsString()) throw ArgumentError("spec must be a string");
  return value.As<Napi::String>().Utf8Value();
}

Napi::Value check_grammar(const Napi::CallbackInfo& info, const SharedTokenizer&) {
  value_or_throw(info.Env(), grammar::parse_grammar_spec(spec_from(info[0])));
  return info.Env().Undefined();
}

using SharedGrammars = std::shared_ptr<grammar::GrammarCache>;

Napi::Value compile_grammar(const Napi::CallbackInfo& info, const SharedGrammars& grammars) {
  return to_js(info.Env(), value_or_throw(info.Env(), grammars->compile(spec_from(info[0]))));
}

Napi::Value compile_grammar_async(const Napi::CallbackInfo& info, const SharedGrammars& grammars) {
  using Grammar = std::shared_ptr<const grammar::CompiledGrammar>;
  return run_async<Grammar>(
      info.Env(), "warmloop compile grammar",
      [grammars, spec = spec_from(info[0])] { return grammars->compile(spec); },
      [](Napi::Env env, Grammar compiled) { return to_js(env, std::move(compiled)); });
}

}  // namespace

Napi::Object to_js(Napi::Env env, std::shared_ptr<const Tokenizer> tokenizer) {
  Napi::Object object = Napi::Object::New(env);
  const auto add = [&](const char* name, auto function) {
    const auto entry_point = [tokenizer, function](const Napi::CallbackInfo& call) {
      return guarded(call.Env(), [&] { return function(call, tokenizer); });
    };
    object.Set(name, Napi::Function::New(env, entry_point, name));
  };
  object.Set("facts", facts_to_js(env, *tokenizer));
  add("encode", encode);
  add("encodeAsync", encode_async);
  add("findToken", find_token);
  add("checkGrammar", check_grammar);
  const SharedGrammars grammars = grammar::shared_grammar_cache(tokenizer);
  add("compileGrammar", [grammars](const Napi::CallbackInfo& call, const SharedTokenizer&) {
    return compile_grammar(call, grammars);
  });
  add("compileGrammarAsync", [grammars](const Napi::CallbackInfo& call, const SharedTokenizer&) {
    return compile_grammar_async(call, grammars);
  });
  return object;
}

}  // namespace wl::addon
