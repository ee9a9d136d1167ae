#include "base/file_identity.h"

#include <sys/stat.h>

namespace wl {

std::string file_identity(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return path;
  return path + '\n' + std::to_string(info.st_size) + '\n' + std::to_string(info.st_mtim.tv_sec) +
         '.' + std::to_string(info.st_mtim.tv_nsec);
}

}  // namespace wl
