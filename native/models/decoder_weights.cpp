#include "models/decoder_weights.h"

#include <map>

#include "models/weight_map.h"
#include "quant/dequantize.h"

namespace wl::models {

using backend::Weight;

namespace {

using WeightMap = std::map<std::string, WeightEntry>;

constexpr size_t kPanelAlignment = 64;

size_t align_up(size_t bytes) {
  return (bytes + kPanelAlignment - 1) / kPanelAlignment * kPanelAlignment;
}

/// Packs tensors one after the other into the buffer of a DecoderWeights. Run twice: once to
/// measure, once to pack, so that the buffer is allocated once and the two can never disagree.
class Packer {
 public:
  Packer(const WeightMap& entries, backend::Backend& backend, uint8_t* panels)
      : entries_(entries), backend_(backend), panels_(panels) {}

  Weight matrix(const std::string& name) {
    const WeightEntry& entry = entries_.at(name);
    Weight weight;
    weight.form = *backend_.form_for(entry.type);
    weight.rows = entry.rows;
    weight.cols = entry.cols;
    if (panels_ != nullptr) {
      backend_.pack({entry.type, entry.rows, entry.cols, plain_rows(entry)}, weight.form,
                    panels_ + num_bytes_);
      weight.panels = panels_ + num_bytes_;
    }
    num_bytes_ += align_up(weight.num_bytes());
    return weight;
  }

  /// A vector in float32; empty when the file has none.
  std::vector<float> optional_vector(const std::string& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return {};
    const WeightEntry& entry = found->second;
    std::vector<float> values(static_cast<size_t>(entry.cols));
    quant::dequantize(entry.type, plain_rows(entry), entry.cols, values.data());
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
  /// Valid until the next call.
  const uint8_t* plain_rows(const WeightEntry& entry) {
    if (is_plain(entry)) return entry.bytes;
    rows_.resize(entry.num_bytes());
    copy_rows(entry, rows_.data());
    return rows_.data();
  }

  const WeightMap& entries_;
  backend::Backend& backend_;
  uint8_t* panels_;
  size_t num_bytes_ = 0;
  std::vector<uint8_t> rows_;  // of an entry that is not plain in the file
};

/// The backend must take every type; said at load, not at the first request.
Status check_types(const WeightMap& entries, const backend::Backend& backend) {
  for (const auto& [name, entry] : entries) {
    if (!backend.form_for(entry.type).has_value()) {
      return {ErrorCode::kModelType,
              name + " is " + dtype_traits(entry.type).name + ", which this backend does not take"};
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
  auto entries = map_weights(file.value(), config.value());
  if (!entries.ok()) return entries.error();
  WL_RETURN_IF_ERROR(check_types(entries.value(), backend));

  auto weights = std::make_shared<DecoderWeights>();
  weights->config = config.value();
  Packer measure(entries.value(), backend, nullptr);
  measure.decoder(weights.get());
  if (!weights->panels.allocate(measure.num_bytes())) {
    return Error{ErrorCode::kModelMemory,
                 "no memory for " + std::to_string(measure.num_bytes()) + " bytes of weights"};
  }
  Packer pack(entries.value(), backend, weights->panels.data());
  pack.decoder(weights.get());
  return std::shared_ptr<const DecoderWeights>(std::move(weights));
}

}  // namespace wl::models
