#pragma once
// Checks that a Result or Status is an error of a code whose message contains a piece of text.

#include <string>

#include "base/result.h"
#include "check.h"

namespace wl::test {

/// "ok", or "ERR_CODE: message".
template <class R>
std::string outcome(const R& result) {
  if (result.ok()) return "ok";
  return std::string(error_code_name(result.error().code)) + ": " + result.error().message;
}

inline bool has_pieces(const std::string& text, const std::string& code, const std::string& piece) {
  return text.starts_with(code + ": ") && text.find(piece) != std::string::npos;
}

}  // namespace wl::test

#define WL_EXPECT_ERROR(result, code, piece)                                                 \
  do {                                                                                       \
    const std::string wl_outcome = ::wl::test::outcome(result);                              \
    if (!::wl::test::has_pieces(wl_outcome, code, piece)) {                                  \
      ::wl::test::report_failure(                                                            \
          __FILE__, __LINE__,                                                                \
          std::string("expected ") + code + " with \"" + (piece) + "\", got " + wl_outcome); \
    }                                                                                        \
  } while (false)
