#pragma once
// A compiled grammar as JS sees it (NativeGrammar of src/native/addon-types.ts): an object with a
// type tag, so that only what was made here comes back in. JS thread only.

#include <napi.h>

#include <memory>

#include "grammar/grammar.h"

namespace wl::addon {

Napi::Object to_js(Napi::Env env, std::shared_ptr<const grammar::CompiledGrammar> grammar);

/// The grammar behind such an object. `name` is the argument's, for the message.
std::shared_ptr<const grammar::CompiledGrammar> grammar_from_js(const Napi::Value& value,
                                                                const char* name);

}  // namespace wl::addon
