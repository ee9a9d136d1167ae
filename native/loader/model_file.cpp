#include "loader/model_file.h"

#include <filesystem>
#include <system_error>

#include "loader/gguf_split.h"
#include "loader/mmap_file.h"
#include "loader/safetensors_folder.h"
#include "loader/tensor_shape.h"

namespace wl::loader {

int64_t TensorEntry::num_elements() const { return checked_num_elements(shape).value_or(0); }

Result<ModelFile> open_model_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return open_safetensors_folder(path);
  if (path.ends_with(".safetensors")) {
    return Error{ErrorCode::kModelFile, display_name(path) +
                                            ": is one weight file; pass the folder that holds it "
                                            "and config.json"};
  }
  return open_gguf(path);
}

}  // namespace wl::loader
