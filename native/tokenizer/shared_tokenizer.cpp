#include "tokenizer/shared_tokenizer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file_identity.h"
#include "base/shared_values.h"
#include "loader/mmap_file.h"
#include "loader/model_file.h"
#include "tokenizer/gguf_tokenizer.h"
#include "tokenizer/json_tokenizer.h"

namespace wl::tokenizer {

namespace {

/// Process state, never destroyed: worker threads may end after static destructors ran.
SharedValues<Tokenizer>& store() {
  static auto* instance = new SharedValues<Tokenizer>;
  return *instance;
}

Result<Tokenizer> read_tokenizer_json(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return Error{ErrorCode::kTokenizerFormat, "the model folder has no tokenizer.json"};
  }
  const auto file = loader::MappedFile::open(path);
  if (!file.ok()) return file.error();
  const auto bytes = file.value()->bytes();
  return tokenizer_from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<Tokenizer> read_gguf(const std::string& path) {
  const auto file = loader::open_model_file(path);
  if (!file.ok()) return file.error();
  return tokenizer_from_gguf(file.value().metadata);
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> shared_tokenizer(const std::string& path) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  const std::string file = is_folder ? path + "/tokenizer.json" : path;
  return store().find_or_make(file_identity(file),
                              [&]() -> Result<std::shared_ptr<const Tokenizer>> {
                                auto made = is_folder ? read_tokenizer_json(file) : read_gguf(file);
                                if (!made.ok()) return made.error();
                                return std::make_shared<const Tokenizer>(std::move(made).value());
                              });
}

}  // namespace wl::tokenizer
