#include "loader/mmap_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace wl::loader {

namespace {

/// Closes the descriptor when it goes out of scope; the mapping does not need it.
class FileDescriptor {
 public:
  explicit FileDescriptor(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error system_error(const std::string& path, const char* what) {
  return {ErrorCode::kModelFile, display_name(path) + ": " + what + ": " + std::strerror(errno)};
}

}  // namespace

std::string display_name(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return escape_bytes(path);
  const size_t slash = path.find_last_of('/', end);
  const size_t start = slash == std::string::npos ? 0 : slash + 1;
  return escape_bytes(path.substr(start, end + 1 - start), 255);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  const FileDescriptor fd(path);
  if (fd.get() < 0) return system_error(path, "cannot be opened");
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return system_error(path, "cannot be examined");
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorCode::kModelFile, display_name(path) + ": is not a regular file"};
  }
  const auto size = static_cast<size_t>(status.st_size);
  const uint8_t* data = nullptr;
  if (size > 0) {
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (mapping == MAP_FAILED) return system_error(path, "cannot be mapped");
    data = static_cast<const uint8_t*>(mapping);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, {data, size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace wl::loader
