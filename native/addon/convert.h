#pragma once
// JS values in, native structs out, and back. Everything that comes in is checked and copied: a
// wrong type, NaN, a fraction, a number out of range or a detached array throws ArgumentError with
// the field's name. JS thread only.

#include <napi.h>

#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/open_engine.h"

namespace wl::addon {

engine::OpenOptions open_options_from_js(const Napi::Value& value);
/// What engine::min_kv_bytes() reads.
engine::OpenOptions kv_needs_from_js(const Napi::Value& value);
engine::RequestOptions request_from_js(const Napi::Value& value);
/// A request or sequence id. `name` is the argument's, for the message.
uint32_t id_from_js(const Napi::Value& value, const char* name);
/// nullopt: undefined.
std::optional<int> count_from_js(const Napi::Value& value, const char* name);
std::string path_from_js(const Napi::Value& value, const char* name);

Napi::Array strings(Napi::Env env, const std::vector<std::string>& texts);
Napi::Object to_js(Napi::Env env, const engine::EngineInfo& info);
Napi::Object to_js(Napi::Env env, const engine::EngineStats& stats);

}  // namespace wl::addon
