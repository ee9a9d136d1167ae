// The module: exactly the `NativeAddon` of src/native/addon-types.ts. Entry points convert, call
// and map errors; nothing else. One instance for each environment (main thread, worker threads).

#include <napi.h>

#include <thread>

#include "addon/convert.h"
#include "addon/errors.h"
#include "addon/inspection.h"
#include "addon/open_worker.h"
#include "addon/tokenizer_wrap.h"
#include "backend/registry.h"
#include "models/inspect.h"
#include "tokenizer/shared_tokenizer.h"

namespace wl::addon {

class Addon : public Napi::Addon<Addon> {
 public:
  Addon(Napi::Env env, Napi::Object exports) {
    DefineAddon(exports,
                {
                    InstanceValue("errorCodes", error_codes(env), napi_enumerable),
                    InstanceMethod("probeDevices", &Addon::probe_devices, napi_enumerable),
                    InstanceMethod("inspectModel", &Addon::inspect_model, napi_enumerable),
                    InstanceMethod("minKvBytes", &Addon::min_kv_bytes, napi_enumerable),
                    InstanceMethod("openTokenizer", &Addon::open_tokenizer, napi_enumerable),
                    InstanceMethod("openEngine", &Addon::open_engine, napi_enumerable),
                });
  }

 private:
  static Napi::Value error_codes(Napi::Env env) {
    Napi::Array names = Napi::Array::New(env);
    for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
      names.Set(static_cast<uint32_t>(i),
                Napi::String::New(env, error_code_name(static_cast<ErrorCode>(i))));
    }
    return names;
  }

  Napi::Value probe_devices(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      const Napi::Env env = info.Env();
      const backend::CpuInfo probed = backend::probe_cpu();
      Napi::Object cpu = Napi::Object::New(env);
      cpu.Set("kind", "cpu");
      cpu.Set("name", probed.name);
      cpu.Set("isaLevels", strings(env, probed.levels));
      cpu.Set("cores", std::thread::hardware_concurrency());
      Napi::Array devices = Napi::Array::New(env);
      devices.Set(uint32_t{0}, cpu);
      return devices;
    });
  }

  Napi::Value inspect_model(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      const std::string path = path_from_js(info[0], "path");
      return to_js(info.Env(), value_or_throw(info.Env(), models::inspect_model(path)));
    });
  }

  Napi::Value min_kv_bytes(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      const engine::OpenOptions needs = kv_needs_from_js(info[0]);
      const int64_t bytes = value_or_throw(info.Env(), engine::min_kv_bytes(needs));
      return Napi::Number::New(info.Env(), static_cast<double>(bytes));
    });
  }

  Napi::Value open_tokenizer(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      const std::string path = path_from_js(info[0], "path");
      return to_js(info.Env(), value_or_throw(info.Env(), tokenizer::shared_tokenizer(path)));
    });
  }

  Napi::Value open_engine(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto start = [&]() -> Napi::Value {
      engine::OpenOptions options = open_options_from_js(info[0]);
      if (!info[1].IsFunction()) throw ArgumentError("onStep must be a function");
      auto* worker = new OpenWorker(env, std::move(options), info[1].As<Napi::Function>());
      worker->Queue();  // deletes itself
      return worker->promise();
    };
    try {
      return guarded(env, start);
    } catch (const Napi::Error& error) {
      const auto deferred = Napi::Promise::Deferred::New(env);
      deferred.Reject(error.Value());
      return deferred.Promise();
    }
  }
};

NODE_API_NAMED_ADDON(warmloop, Addon)

}  // namespace wl::addon
