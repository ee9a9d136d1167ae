#pragma once
// Where an architecture reads its settings: the metadata of a GGUF file, or the config.json of a
// checkpoint folder, in its classic form (rope_theta, rope_scaling) or the newer one
// (rope_parameters, text_config).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "loader/model_file.h"
#include "models/config_fields.h"

namespace wl::models {

struct ConfigSource {
  const loader::ModelFile& file;
  std::string architecture;  // GGUF: general.architecture; HF: model_type
  ConfigFields fields;
  ConfigFields rope;         // rope settings of the layers with full attention, or of all
  ConfigFields local_rope;   // of the layers with a sliding window, where they have their own
  std::string quantization;  // HF: the quant_method of quantization_config, "" without one
  std::shared_ptr<const JsonValue> json;  // what the fields of an HF config point into

  bool is_gguf() const { return file.container == loader::Container::kGguf; }
  /// Length of a GGUF file's tokenizer, 0 without one.
  int64_t num_tokens() const;
};

/// nullopt when there is nothing to read, which is a problem then. `file` and `problems` outlive
/// the source.
std::optional<ConfigSource> open_config(const loader::ModelFile& file,
                                        std::vector<Error>* problems);

}  // namespace wl::models
