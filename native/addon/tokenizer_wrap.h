#pragma once
// A tokenizer as JS sees it (NativeTokenizer of src/native/addon-types.ts): a plain object whose
// functions share one process-wide tokenizer. JS thread only, but for the work of `encodeAsync`.

#include <napi.h>

#include <memory>

#include "tokenizer/tokenizer.h"

namespace wl::addon {

Napi::Object to_js(Napi::Env env, std::shared_ptr<const tokenizer::Tokenizer> tokenizer);

}  // namespace wl::addon
