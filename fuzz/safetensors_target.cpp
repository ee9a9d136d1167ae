// Safetensors folders: config.json, the shard index, the header of the weight file, the weight map,
// packing, a short run. One input is a folder: two lengths of 32 bits, little-endian, then
// config.json, model.safetensors.index.json (none when its length is 0), model.safetensors.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "model_trial.h"

namespace {

constexpr size_t kHeadBytes = 6'000;  // lengths, JSON and the weight file's header of the seeds

using Bytes = std::span<const uint8_t>;

/// A folder of this process, in memory where the machine has that, removed at the end.
class Folder {
 public:
  Folder() {
    const bool has_shm = std::filesystem::is_directory("/dev/shm");
    const std::filesystem::path parent =
        has_shm ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "wl-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  void write(const std::string& name, Bytes bytes) const {
    std::ofstream(path_ + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  void remove(const std::string& name) const { std::filesystem::remove(path_ + "/" + name); }

 private:
  std::string path_;
};

uint32_t take_length(Bytes& input) {
  uint32_t length = 0;
  const size_t num_bytes = std::min(input.size(), sizeof length);
  std::memcpy(&length, input.data(), num_bytes);
  input = input.subspan(num_bytes);
  return length;
}

Bytes take(Bytes& input, size_t length) {
  const Bytes taken = input.first(std::min(length, input.size()));
  input = input.subspan(taken.size());
  return taken;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return wl::fuzz::mutate_head(data, size, max_size, seed, kHeadBytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  Bytes input(data, size);
  const uint32_t config_length = take_length(input);
  const uint32_t index_length = take_length(input);
  folder.write("config.json", take(input, config_length));
  const Bytes index = take(input, index_length);
  if (index.empty()) {
    folder.remove("model.safetensors.index.json");
  } else {
    folder.write("model.safetensors.index.json", index);
  }
  folder.write("model.safetensors", input);
  wl::fuzz::try_model(folder.path(), size);
  return 0;
}
