#pragma once
// What tells one state of a file from another: path, size and modification time. Key of what the
// process shares between those who open the same file.

#include <string>

namespace wl {

/// The path alone when the file cannot be read: opening it gives the reason.
std::string file_identity(const std::string& path);

}  // namespace wl
