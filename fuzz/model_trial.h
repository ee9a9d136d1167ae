#pragma once
// What every fuzz target of a model loader does with its input: the whole way that a server goes
// with a file that it was given, and a few tokens from the model if it opens.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace wl::fuzz {

/// Inspects the checkpoint at `path` as `models inspect` does and opens it as the server does;
/// refusals are what most inputs get. A model that opens answers one request. `variant` chooses
/// KV type and quantization. Aborts when a broken invariant shows, such as ERR_INTERNAL.
void try_model(const std::string& path, size_t variant);

/// A file in memory with these bytes, under a path that others of this process can open.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const uint8_t> bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const;

 private:
  int descriptor_;
};

/// Mutates the first `head_bytes` of the input most of the time, where structure is, and else any
/// byte of it. For LLVMFuzzerCustomMutator, with its arguments.
size_t mutate_head(uint8_t* data, size_t size, size_t max_size, unsigned seed, size_t head_bytes);

}  // namespace wl::fuzz
