#pragma once
// The one place that turns failures into JS errors: an Error value, a bad argument, InternalError
// and every std exception become a JS Error with `.code` and the message `ERR_X: sentence`. JS
// thread only. Nothing else in this folder builds an error object.

#include <napi.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/result.h"

namespace wl::addon {

/// An argument of the wrong type or out of range. `what()` names the field and says what it must
/// be. Becomes a TypeError with code ERR_INVALID_ARGUMENT.
class ArgumentError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The exception in flight, as an Error. Never throws; the argument comes from
/// std::current_exception().
Error error_of(const std::exception_ptr& exception);

/// A JS Error (TypeError for a bad argument) as a C++ exception that node-addon-api hands to JS.
Napi::Error js_error(Napi::Env env, const Error& error);
Napi::TypeError js_type_error(Napi::Env env, const ArgumentError& error);

/// Runs the body of an entry point: whatever it throws leaves as a Napi::Error.
template <class Body>
auto guarded(Napi::Env env, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;  // JS code threw (a getter, a proxy): it is a JS error already
  } catch (const ArgumentError& error) {
    throw js_type_error(env, error);
  } catch (...) {
    throw js_error(env, error_of(std::current_exception()));
  }
}

template <class T>
T value_or_throw(Napi::Env env, Result<T> result) {
  if (!result.ok()) throw js_error(env, result.error());
  return std::move(result).value();
}

/// The JS stack of a call that answers with a promise, kept so that a late rejection shows who
/// called. Lives on the JS thread.
class CallSite {
 public:
  explicit CallSite(Napi::Env env);
  /// The error object, with the stack of the call.
  Napi::Value error(Napi::Env env, const Error& error);

 private:
  Napi::ObjectReference error_;
};

}  // namespace wl::addon
