// tiny_seeds FOLDER: the smallest model of each architecture, as seeds of the targets that read
// models: FOLDER/gguf/tiny-ARCHITECTURE and FOLDER/safetensors/tiny-MODEL_TYPE. In a file of a few
// KiB almost every byte is structure, and a run costs little.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "models/hf_model.h"
#include "models/tiny_model.h"

namespace {

using wl::test::le_bytes;

constexpr const char* kModelTypes[] = {"llama",     "mistral",     "qwen2",  "qwen3",
                                       "qwen3_moe", "gemma3_text", "phi3",   "gpt_oss",
                                       "smollm3",   "olmo2",       "granite"};

/// A folder as one input: safetensors_target.cpp has the layout. All tensors are F32.
std::string pack_folder(const wl::test::HfModel& model) {
  const wl::loader::ModelFile file = model.file();
  std::string header, data;
  for (const auto& tensor : file.tensors) {
    std::string shape;
    for (const int64_t size : tensor.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    }
    header += (header.empty() ? "{\"" : ",\"") + tensor.name + R"(":{"dtype":"F32","shape":[)" +
              shape + "],\"data_offsets\":[" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + tensor.num_bytes) + "]}";
    data.append(reinterpret_cast<const char*>(tensor.bytes), tensor.num_bytes);
  }
  header += "}";
  return le_bytes(static_cast<uint32_t>(file.config_json.size())) + le_bytes(uint32_t{0}) +
         file.config_json + le_bytes(uint64_t{header.size()}) + header + data;
}

void write(const std::filesystem::path& folder, const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / ("tiny-" + name), std::ios::binary) << bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tiny_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  for (const char* arch : wl::test::kGgufArchitectures) {
    write(folder / "gguf", arch, wl::test::tiny_gguf(arch).build());
  }
  for (const char* type : kModelTypes) {
    write(folder / "safetensors", type, pack_folder(wl::test::tiny_hf(type)));
  }
  return 0;
}
