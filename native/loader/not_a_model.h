#pragma once
// Names the files that people mistake for models: what a download leaves behind when it fails.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace wl::loader {

/// One clause that says what the file is ("is a Git LFS pointer, ..."), or nullopt when it looks
/// like none of the known mistakes.
std::optional<std::string> describe_non_model(std::span<const uint8_t> bytes);

/// The first bytes of a file, escaped and quoted for a message.
std::string quote_first_bytes(std::span<const uint8_t> bytes);

}  // namespace wl::loader
