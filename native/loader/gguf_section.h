#pragma once
// What the parsers of GGUF sections share: the cursor, the file's name for messages, and one sticky
// error. Parse functions return false once the error is set.

#include <span>
#include <string>

#include "base/result.h"
#include "loader/byte_reader.h"

namespace wl::loader {

class GgufSection {
 public:
  const Error& error() const { return error_; }

 protected:
  GgufSection(ByteReader reader, std::string name) : reader_(reader), name_(std::move(name)) {}

  bool fail(ErrorCode code, const std::string& what) {
    error_ = {code, name_ + ": " + what};
    return false;
  }
  bool fail_format(const std::string& what) { return fail(ErrorCode::kModelFormat, what); }
  bool fail_short(const std::string& what) {
    return fail_format("is truncated or damaged: " + what + " at byte " +
                       std::to_string(reader_.position()) + " does not fit in the file's " +
                       std::to_string(reader_.size()) + " bytes");
  }

  ByteReader reader_;

 private:
  std::string name_;
  Error error_{ErrorCode::kInternal, {}};
};

/// Not empty, valid UTF-8, no NUL: what keys and tensor names must be.
bool is_readable_name(const std::string& text);

}  // namespace wl::loader
