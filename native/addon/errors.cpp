#include "addon/errors.h"

#include <new>

namespace wl::addon {
namespace {

std::string full_message(const Error& error) {
  return std::string(error_code_name(error.code)) + ": " + error.message;
}

template <class JsError>
JsError with_code(Napi::Env env, const Error& error) {
  JsError js = JsError::New(env, full_message(error));
  js.Value().Set("code", Napi::String::New(env, error_code_name(error.code)));
  return js;
}

}  // namespace

Error error_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const ArgumentError& e) {
    return {ErrorCode::kInvalidArgument, e.what()};
  } catch (const InternalError& e) {
    return {ErrorCode::kInternal, e.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kInternal, "out of memory"};
  } catch (const std::exception& e) {
    return {ErrorCode::kInternal, escape_bytes(e.what(), 400)};
  } catch (...) {
    return {ErrorCode::kInternal, "an exception of unknown type"};
  }
}

Napi::Error js_error(Napi::Env env, const Error& error) {
  return with_code<Napi::Error>(env, error);
}

Napi::TypeError js_type_error(Napi::Env env, const ArgumentError& error) {
  return with_code<Napi::TypeError>(env, {ErrorCode::kInvalidArgument, error.what()});
}

CallSite::CallSite(Napi::Env env) : error_(Napi::Persistent(Napi::Error::New(env, "").Value())) {}

Napi::Value CallSite::error(Napi::Env env, const Error& error) {
  Napi::Object js = error_.Value();
  const std::string message = full_message(error);
  // V8 wrote the stack when the object was made; its first line is "Error".
  const std::string stack = js.Get("stack").ToString();
  const size_t frames = stack.find('\n');
  js.Set("message", Napi::String::New(env, message));
  js.Set("code", Napi::String::New(env, error_code_name(error.code)));
  js.Set("stack",
         Napi::String::New(
             env, "Error: " + message + (frames == std::string::npos ? "" : stack.substr(frames))));
  return js;
}

}  // namespace wl::addon
