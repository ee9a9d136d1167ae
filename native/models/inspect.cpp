#include "models/inspect.h"

#include "models/weight_map.h"

namespace wl::models {

namespace {

void append(std::vector<Error> problems, std::vector<Error>* all) {
  all->insert(all->end(), std::make_move_iterator(problems.begin()),
              std::make_move_iterator(problems.end()));
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
  ConfigReading reading = check_model_config(file);
  const ModelConfig& config = reading.config;
  if (reading.problems.empty()) {
    inspection.kv_costs = {{"f16", kv_memory(config, backend::KvDType::kF16)},
                           {"q8_0", kv_memory(config, backend::KvDType::kQ8_0)},
                           {"f32", kv_memory(config, backend::KvDType::kF32)}};
  }
  // Without a sound configuration the tensors' shapes cannot be judged, their types can.
  append(reading.problems.empty() ? check_weights(file, config).problems : check_types(file),
         &reading.problems);
  inspection.refusals = std::move(reading.problems);
  inspection.config = std::move(reading.config);
  inspection.metadata = std::move(file.metadata);
  return inspection;
}

}  // namespace wl::models
