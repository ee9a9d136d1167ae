#pragma once
// What `models inspect` and the tokenizer need of a checkpoint, as a JS object (ModelInspection of
// src/native/addon-types.ts). JS thread only.

#include <napi.h>

#include "models/inspect.h"

namespace wl::addon {

Napi::Object to_js(Napi::Env env, const models::Inspection& inspection);

}  // namespace wl::addon
