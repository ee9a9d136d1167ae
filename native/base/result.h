#pragma once
// Expected failures travel as values: Status (ok or an Error) and Result<T> (a T or an Error).
// A broken invariant throws InternalError. addon/errors.cpp is the one place that turns either into
// a JS Error. Not thread-bound; depends on nothing.

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace wl {

/// Stable codes that cross into JS. `kErrorCodeNames` in result.cpp spells them; the TypeScript
/// union EngineErrorCode equals that table (test/unit/native/addon.test.ts).
enum class ErrorCode {
  kModelFile,         // ERR_MODEL_FILE: cannot be read, or is not a model at all
  kModelFormat,       // ERR_MODEL_FORMAT: damaged or inconsistent
  kModelType,         // ERR_MODEL_TYPE: a tensor type this build does not compute
  kModelArch,         // ERR_MODEL_ARCH: an architecture or rope setting this build does not know
  kModelTensor,       // ERR_MODEL_TENSOR: missing, unknown or misshaped tensor
  kModelMemory,       // ERR_MODEL_MEMORY: weights or KV do not fit
  kTokenizerFormat,   // ERR_TOKENIZER_FORMAT: a part is missing or not what its format says
  kTokenizerType,     // ERR_TOKENIZER_TYPE: well-formed, but of a kind that is not supported
  kGrammar,           // ERR_GRAMMAR: a grammar or schema that is wrong or not supported
  kContextTooLong,    // ERR_CONTEXT_TOO_LONG
  kQueueFull,         // ERR_QUEUE_FULL
  kSequenceReleased,  // ERR_SEQUENCE_RELEASED: the handle's blocks went back to the pool
  kEngineClosed,      // ERR_ENGINE_CLOSED
  kEngineFailed,      // ERR_ENGINE_FAILED
  kInvalidArgument,   // ERR_INVALID_ARGUMENT
  kInternal,          // ERR_INTERNAL
};

/// "ERR_..." name of a code.
const char* error_code_name(ErrorCode code);

struct Error {
  ErrorCode code;
  std::string message;  // one sentence with the facts; bytes from files are escaped
};

/// Ok, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)), is_ok_(false) {}
  Status(ErrorCode code, std::string message) : Status(Error{code, std::move(message)}) {}
  bool ok() const { return is_ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_{ErrorCode::kInternal, {}};
  bool is_ok_ = true;
};

/// A T, or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}
  Result(ErrorCode code, std::string message) : state_(Error{code, std::move(message)}) {}
  bool ok() const { return state_.index() == 0; }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// A broken invariant of our own code: never the user's fault.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Escapes everything that is not printable ASCII, so that bytes of a file are safe in a message.
std::string escape_bytes(const std::string& text, size_t max_bytes = 80);

/// escape_bytes, in double quotes: how messages show names and keys of a file.
std::string quote_bytes(const std::string& text, size_t max_bytes = 80);

}  // namespace wl

/// Returns the error of a Status or Result expression from the enclosing function.
#define WL_RETURN_IF_ERROR(expression)                    \
  do {                                                    \
    if (auto wl_status = (expression); !wl_status.ok()) { \
      return wl_status.error();                           \
    }                                                     \
  } while (false)
