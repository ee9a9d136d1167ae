#pragma once
// Reads files of test/golden.

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace wl::test {

inline std::optional<std::string> read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

inline std::string golden_path(const std::string& name) {
  return std::string(WL_GOLDEN_DIR) + "/" + name;
}

}  // namespace wl::test
