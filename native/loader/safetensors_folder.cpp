#include "loader/safetensors_folder.h"

#include <filesystem>
#include <map>
#include <set>

#include "base/json.h"
#include "loader/mmap_file.h"
#include "loader/not_a_model.h"
#include "loader/safetensors.h"

namespace wl::loader {

namespace {

constexpr size_t kMaxConfigBytes = 4 << 20;  // real ones have a few KiB
constexpr size_t kMaxIndexBytes = 64 << 20;
constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

using ShardTensors = std::map<std::string, std::set<std::string>>;  // file name -> tensor names

bool exists(const std::string& path) {
  std::error_code error;  // any failure to look is reported when the file is opened
  return std::filesystem::exists(path, error);
}

Result<std::string> read_text(const std::string& path, size_t max_bytes) {
  auto file = MappedFile::open(path);
  if (!file.ok()) return file.error();
  const auto bytes = file.value()->bytes();
  if (const auto known = describe_non_model(bytes)) {
    return Error{ErrorCode::kModelFile, display_name(path) + ": " + *known};
  }
  if (bytes.size() > max_bytes) {
    return Error{ErrorCode::kModelFormat, display_name(path) + ": has " +
                                              std::to_string(bytes.size()) +
                                              " bytes, more than any such file"};
  }
  return std::string(bytes.begin(), bytes.end());
}

/// A name that stays inside the folder.
bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name.find_first_of(std::string("/\\\0", 3)) == std::string::npos &&
         name != "." && name != "..";
}

Error index_error(const std::string& what) {
  return {ErrorCode::kModelFormat, std::string(kIndexFile) + ": " + what};
}

Result<ShardTensors> read_index(const std::string& path) {
  auto text = read_text(path, kMaxIndexBytes);
  if (!text.ok()) return text.error();
  auto json = parse_json(text.value());
  if (!json.ok()) return index_error(json.error().message);
  const JsonValue* weight_map = json.value().find("weight_map");
  const JsonObject* members = weight_map != nullptr ? weight_map->as_object() : nullptr;
  if (members == nullptr || members->empty()) return index_error("has no weight_map");
  ShardTensors shards;
  for (const auto& [tensor, file] : *members) {
    const std::string* name = file.as_string();
    if (name == nullptr || !is_plain_file_name(*name)) {
      return index_error("names no plain file for tensor " + quote_bytes(tensor));
    }
    shards[*name].insert(tensor);
  }
  return shards;
}

/// Adds one file's tensors. `expected` are those that the index promises; all others of the file
/// belong to the model as well.
Status append_file(const std::string& path, const std::set<std::string>& expected,
                   std::set<std::string>* seen, ModelFile* model) {
  auto file = MappedFile::open(path);
  if (!file.ok()) return file.error();
  auto tensors = parse_safetensors(file.value()->bytes(), display_name(path));
  if (!tensors.ok()) return tensors.error();
  std::set<std::string> missing = expected;
  for (TensorEntry& tensor : tensors.value()) {
    missing.erase(tensor.name);
    if (!seen->insert(tensor.name).second) {
      return Error{
          ErrorCode::kModelFormat,
          display_name(path) + ": tensor " + quote_bytes(tensor.name) + " is in another file too"};
    }
    model->tensors.push_back(std::move(tensor));
  }
  if (!missing.empty()) {
    return Error{ErrorCode::kModelFormat, display_name(path) + ": lacks tensor " +
                                              quote_bytes(*missing.begin()) +
                                              ", which the index promises"};
  }
  model->total_bytes += file.value()->bytes().size();
  model->mappings.push_back(std::move(file).value());
  return {};
}

}  // namespace

Result<ModelFile> open_safetensors_folder(const std::string& path) {
  const std::string folder = path.ends_with('/') ? path : path + "/";
  ModelFile model;
  model.container = Container::kSafetensors;
  model.path = path;
  if (!exists(folder + "config.json")) {
    return Error{ErrorCode::kModelFile,
                 display_name(path) +
                     ": is a folder without config.json; pass a .gguf file or a "
                     "folder with config.json and *.safetensors"};
  }
  auto config = read_text(folder + "config.json", kMaxConfigBytes);
  if (!config.ok()) return config.error();
  model.config_json = std::move(config).value();

  ShardTensors shards;
  if (exists(folder + kIndexFile)) {
    auto index = read_index(folder + kIndexFile);
    if (!index.ok()) return index.error();
    shards = std::move(index).value();
  } else if (exists(folder + kSingleFile)) {
    shards[kSingleFile];
  } else {
    return Error{ErrorCode::kModelFile,
                 display_name(path) + ": has neither " + kSingleFile + " nor " + kIndexFile};
  }
  std::set<std::string> seen;
  for (const auto& [name, tensors] : shards) {
    WL_RETURN_IF_ERROR(append_file(folder + name, tensors, &seen, &model));
  }
  return model;
}

}  // namespace wl::loader
