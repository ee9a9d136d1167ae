#include "loader/gguf_split.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "loader/gguf.h"
#include "loader/mmap_file.h"
#include "loader/tokenizer_metadata.h"

namespace wl::loader {

namespace {

constexpr int64_t kMaxShards = 65535;  // split.count is u16

struct Shard {
  std::shared_ptr<const MappedFile> file;
  GgufContents contents;
};

Result<Shard> open_shard(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file.ok()) return file.error();
  auto contents = parse_gguf(file.value()->bytes(), display_name(path));
  if (!contents.ok()) return contents.error();
  return Shard{std::move(file).value(), std::move(contents).value()};
}

Error format_error(const std::string& path, const std::string& what) {
  return {ErrorCode::kModelFormat, display_name(path) + ": " + what};
}

/// An integer key of a shard; nullopt when absent or of another type.
std::optional<int64_t> integer_key(const GgufContents& contents, const char* key) {
  const auto found = contents.metadata.find(key);
  if (found == contents.metadata.end()) return std::nullopt;
  const int64_t* value = std::get_if<int64_t>(&found->second.v);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::string shard_suffix(int64_t number, int64_t count) {
  char text[64];
  std::snprintf(text, sizeof text, "-%05lld-of-%05lld.gguf", static_cast<long long>(number),
                static_cast<long long>(count));
  return text;
}

void append_shard(Shard shard, ModelFile* model) {
  model->total_bytes += shard.file->bytes().size();
  model->mappings.push_back(std::move(shard.file));
  auto& tensors = shard.contents.tensors;
  std::move(tensors.begin(), tensors.end(), std::back_inserter(model->tensors));
}

/// Shards 2..count beside the first one, in order.
Status append_other_shards(const std::string& first_path, int64_t count, ModelFile* model) {
  const std::string suffix = shard_suffix(1, count);
  if (!first_path.ends_with(suffix)) {
    return format_error(first_path, "is the first of " + std::to_string(count) +
                                        " files, so its name must end in " + suffix);
  }
  const std::string prefix = first_path.substr(0, first_path.size() - suffix.size());
  for (int64_t i = 1; i < count; ++i) {
    const std::string path = prefix + shard_suffix(i + 1, count);
    auto shard = open_shard(path);
    if (!shard.ok()) {
      return Error{shard.error().code, "shard " + std::to_string(i + 1) + " of " +
                                           std::to_string(count) + ": " + shard.error().message};
    }
    const GgufContents& contents = shard.value().contents;
    if (integer_key(contents, "split.no") != i || integer_key(contents, "split.count") != count) {
      return format_error(path, "is not shard " + std::to_string(i + 1) + " of " +
                                    std::to_string(count) + " by its split.no and split.count");
    }
    append_shard(std::move(shard).value(), model);
  }
  return {};
}

Status check_union(const std::string& path, int64_t expected, const ModelFile& model) {
  std::set<std::string> names;
  for (const TensorEntry& tensor : model.tensors) {
    if (!names.insert(tensor.name).second) {
      return format_error(path, "tensor " + quote_bytes(tensor.name) + " is in two shards");
    }
  }
  if (static_cast<int64_t>(names.size()) != expected) {
    return format_error(path, "split.tensors.count is " + std::to_string(expected) +
                                  ", the shards hold " + std::to_string(names.size()) + " tensors");
  }
  return {};
}

}  // namespace

Result<ModelFile> open_gguf(const std::string& path) {
  auto first = open_shard(path);
  if (!first.ok()) return first.error();
  const int64_t count = integer_key(first.value().contents, "split.count").value_or(1);
  const int64_t number = integer_key(first.value().contents, "split.no").value_or(0);
  if (count < 0 || count > kMaxShards || number < 0 || number >= std::max<int64_t>(count, 1)) {
    return format_error(path, "has split.no " + std::to_string(number) + " of split.count " +
                                  std::to_string(count));
  }
  if (number != 0) {
    return format_error(path, "is shard " + std::to_string(number + 1) + " of " +
                                  std::to_string(count) + "; pass the first one (..." +
                                  shard_suffix(1, count) + ")");
  }
  ModelFile model;
  model.container = Container::kGguf;
  model.path = path;
  model.metadata = std::move(first.value().contents.metadata);
  const auto declared = model.metadata.find("split.tensors.count");
  append_shard(std::move(first).value(), &model);
  WL_RETURN_IF_ERROR(check_tokenizer_metadata(model.metadata, display_name(path)));
  if (count <= 1) return model;

  WL_RETURN_IF_ERROR(append_other_shards(path, count, &model));
  const int64_t* expected =
      declared != model.metadata.end() ? std::get_if<int64_t>(&declared->second.v) : nullptr;
  if (expected == nullptr) return format_error(path, "has split.count but no split.tensors.count");
  WL_RETURN_IF_ERROR(check_union(path, *expected, model));
  return model;
}

}  // namespace wl::loader
