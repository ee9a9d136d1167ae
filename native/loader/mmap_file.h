#pragma once
// A regular file mapped read-only. The mapping lives as long as the object; readers hold it by
// shared_ptr. A file that another process shortens while it is mapped raises SIGBUS on access:
// model files are replaced by rename, never rewritten in place.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace wl::loader {

class MappedFile {
 public:
  /// Errors: ERR_MODEL_FILE (missing, unreadable, not a regular file).
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, std::span<const uint8_t> bytes)
      : path_(std::move(path)), bytes_(bytes) {}
  std::string path_;
  std::span<const uint8_t> bytes_;
};

/// Last component of a path, escaped for a message.
std::string display_name(const std::string& path);

}  // namespace wl::loader
