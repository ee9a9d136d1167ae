#include "models/inspect.h"

#include "models/weight_map.h"

namespace wl::models {

namespace {

constexpr int64_t kKvBytesPerValue = 2;  // f16

std::string shown(const Error& error) {
  return std::string(error_code_name(error.code)) + ": " + error.message;
}

}  // namespace

Result<Inspection> inspect_model(const std::string& path) {
  auto opened = loader::open_model_file(path);
  if (!opened.ok()) return opened.error();
  loader::ModelFile& file = opened.value();
  Inspection inspection;
  inspection.container = file.container;
  for (const loader::TensorEntry& tensor : file.tensors) {
    inspection.weight_bytes += static_cast<int64_t>(tensor.num_bytes);
    inspection.tensors.push_back(
        {tensor.name, dtype_name(tensor.ggml_type), tensor.shape, tensor.num_bytes});
  }
  auto config = read_model_config(file);
  if (config.ok()) {
    const ModelConfig& c = config.value();
    inspection.kv_bytes_per_token =
        int64_t{2} * c.num_layers * c.num_kv_heads * c.head_dim * kKvBytesPerValue;
    const auto weights = map_weights(file, c);
    if (!weights.ok()) inspection.refusal = shown(weights.error());
    inspection.config = std::move(config).value();
  } else {
    inspection.refusal = shown(config.error());
  }
  inspection.metadata = std::move(file.metadata);
  return inspection;
}

}  // namespace wl::models
