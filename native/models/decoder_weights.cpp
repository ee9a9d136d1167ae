#include "models/decoder_weights.h"

#include <map>

#include "quant/dequantize.h"

namespace wl::models {

using backend::Weight;
using loader::TensorEntry;

namespace {

using TensorMap = std::map<std::string, TensorEntry>;

constexpr size_t kPanelAlignment = 64;

size_t align_up(size_t bytes) {
  return (bytes + kPanelAlignment - 1) / kPanelAlignment * kPanelAlignment;
}

/// Packs tensors one after the other into the buffer of a DecoderWeights. Run twice: once to
/// measure, once to pack, so that the buffer is allocated once and the two can never disagree.
class Packer {
 public:
  Packer(const TensorMap& tensors, backend::Backend& backend, uint8_t* panels)
      : tensors_(tensors), backend_(backend), panels_(panels) {}

  Weight matrix(const std::string& name) {
    const TensorEntry& tensor = tensors_.at(name);
    const auto type = static_cast<DType>(tensor.ggml_type);
    Weight weight;
    weight.form = *backend_.form_for(type);
    weight.rows = static_cast<int>(tensor.shape.at(0));
    weight.cols = static_cast<int>(tensor.shape.at(1));
    if (panels_ != nullptr) {
      backend_.pack({type, weight.rows, weight.cols, tensor.bytes}, weight.form,
                    panels_ + num_bytes_);
      weight.panels = panels_ + num_bytes_;
    }
    num_bytes_ += align_up(weight.num_bytes());
    return weight;
  }

  /// A vector in float32; empty when the file has none.
  std::vector<float> optional_vector(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) return {};
    const TensorEntry& tensor = found->second;
    std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
    quant::dequantize(static_cast<DType>(tensor.ggml_type), tensor.bytes, tensor.num_elements(),
                      values.data());
    return values;
  }

  Linear linear(const std::string& prefix) {
    return {matrix(prefix + ".weight"), optional_vector(prefix + ".bias")};
  }

  DecoderLayer layer(int index) {
    const std::string prefix = "blk." + std::to_string(index) + ".";
    DecoderLayer layer;
    layer.attn_norm = optional_vector(prefix + "attn_norm.weight");
    layer.q = linear(prefix + "attn_q");
    layer.k = linear(prefix + "attn_k");
    layer.v = linear(prefix + "attn_v");
    layer.attn_output = linear(prefix + "attn_output");
    layer.ffn_norm = optional_vector(prefix + "ffn_norm.weight");
    layer.ffn_gate = linear(prefix + "ffn_gate");
    layer.ffn_up = linear(prefix + "ffn_up");
    layer.ffn_down = linear(prefix + "ffn_down");
    return layer;
  }

  void decoder(DecoderWeights* weights) {
    weights->embedding = matrix("token_embd.weight");
    weights->layers.clear();
    for (int i = 0; i < weights->config.num_layers; ++i) weights->layers.push_back(layer(i));
    weights->output_norm = optional_vector("output_norm.weight");
    weights->head = weights->config.is_tied
                        ? Linear{weights->embedding, optional_vector("output.bias")}
                        : linear("output");
  }

  size_t num_bytes() const { return num_bytes_; }

 private:
  const TensorMap& tensors_;
  backend::Backend& backend_;
  uint8_t* panels_;
  size_t num_bytes_ = 0;
};

/// The backend must multiply every matrix type; said at load, not at the first request.
Status check_types(const TensorMap& tensors, const backend::Backend& backend) {
  for (const auto& [name, tensor] : tensors) {
    if (tensor.shape.size() < 2) continue;
    if (!backend.form_for(static_cast<DType>(tensor.ggml_type)).has_value()) {
      return {ErrorCode::kModelType, name + " is " + dtype_name(tensor.ggml_type) +
                                         ", which this backend cannot multiply"};
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const DecoderWeights>> load_decoder_weights(const std::string& path,
                                                                   backend::Backend& backend) {
  auto file = loader::open_model_file(path);
  if (!file.ok()) return file.error();
  auto config = read_model_config(file.value());
  if (!config.ok()) return config.error();
  auto tensors = map_weights(file.value(), config.value());
  if (!tensors.ok()) return tensors.error();
  WL_RETURN_IF_ERROR(check_types(tensors.value(), backend));

  auto weights = std::make_shared<DecoderWeights>();
  weights->config = config.value();
  Packer measure(tensors.value(), backend, nullptr);
  measure.decoder(weights.get());
  if (!weights->panels.allocate(measure.num_bytes())) {
    return Error{ErrorCode::kModelMemory,
                 "no memory for " + std::to_string(measure.num_bytes()) + " bytes of weights"};
  }
  Packer pack(tensors.value(), backend, weights->panels.data());
  pack.decoder(weights.get());
  return std::shared_ptr<const DecoderWeights>(std::move(weights));
}

}  // namespace wl::models
