#include "models/decoder_weights.h"

#include <algorithm>
#include <map>

#include "models/load_quantization.h"
#include "models/weight_map.h"
#include "quant/dequantize.h"
#include "quant/mxfp4.h"

namespace wl::models {

using backend::Weight;

namespace {

using WeightMap = std::map<std::string, WeightEntry>;

constexpr size_t kPanelAlignment = 64;

size_t align_up(size_t bytes) {
  return (bytes + kPanelAlignment - 1) / kPanelAlignment * kPanelAlignment;
}

/// Memory that a load fills.
struct Destination {
  uint8_t* panels = nullptr;   // null: measure only
  uint8_t* scratch = nullptr;  // rows of one matrix that are not plain in the file
};

/// Packs matrices one after the other into the buffer of a DecoderWeights. Run twice: once to
/// check and measure, once to pack, so that the buffer is allocated once and the two can never
/// disagree.
class Packer {
 public:
  Packer(const WeightMap& entries, std::optional<DType> quantization, backend::Backend& backend,
         Destination destination)
      : entries_(entries),
        quantization_(quantization),
        backend_(backend),
        destination_(destination) {}

  /// Fills everything but the panels' memory.
  Status decoder(DecoderWeights* weights) {
    const ModelConfig& config = weights->config;
    norm_offset_ = config.norm_adds_one ? 1.0f : 0.0f;
    weights->embedding = matrix("token_embd.weight");
    weights->layers.clear();
    for (int i = 0; i < config.num_layers; ++i) {
      weights->layers.push_back(layer("blk." + std::to_string(i) + ".", config, i));
    }
    weights->output_norm = norm("output_norm");
    weights->head = config.is_tied ? Linear{weights->embedding, optional_vector("output.bias")}
                                   : linear("output");
    return status_;
  }

  size_t num_bytes() const { return num_bytes_; }
  size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  DecoderLayer layer(const std::string& prefix, const ModelConfig& config, int index) {
    DecoderLayer layer;
    layer.attn_norm = norm(prefix + "attn_norm");
    layer.attention.q = linear(prefix + "attn_q");
    layer.attention.k = linear(prefix + "attn_k");
    layer.attention.v = linear(prefix + "attn_v");
    layer.attention.q_norm = norm(prefix + "attn_q_norm");
    layer.attention.k_norm = norm(prefix + "attn_k_norm");
    layer.attention.sinks = optional_vector(prefix + "attn_sinks.weight");
    layer.attention.output = linear(prefix + "attn_output");
    layer.post_attention_norm = norm(prefix + "post_attention_norm");
    layer.ffn_norm = norm(prefix + "ffn_norm");
    if (config.layers[static_cast<size_t>(index)].is_moe) {
      layer.moe = experts(prefix, config.moe.num_experts);
    } else {
      layer.mlp = gated_mlp(prefix, "");
    }
    layer.post_ffw_norm = norm(prefix + "post_ffw_norm");
    return layer;
  }

  MoeWeights experts(const std::string& prefix, int num_experts) {
    MoeWeights moe;
    moe.router = linear(prefix + "ffn_gate_inp");
    for (int e = 0; e < num_experts; ++e) {
      moe.experts.push_back(gated_mlp(prefix, "_exps." + std::to_string(e)));
    }
    return moe;
  }

  GatedMlpWeights gated_mlp(const std::string& prefix, const std::string& suffix) {
    return {linear(prefix + "ffn_gate" + suffix), linear(prefix + "ffn_up" + suffix),
            linear(prefix + "ffn_down" + suffix)};
  }

  Linear linear(const std::string& prefix) {
    return {matrix(prefix + ".weight"), optional_vector(prefix + ".bias")};
  }

  Weight matrix(const std::string& name) {
    const WeightEntry& entry = entries_.at(name);
    const std::optional<DType> type = multiplied_type(name, entry);
    if (!type) return {};
    Weight weight{*backend_.form_for(*type), entry.rows, entry.cols, nullptr};
    if (destination_.panels != nullptr) {
      uint8_t* panels = destination_.panels + num_bytes_;
      const bool is_quantized_here = *type != entry.type;
      const uint8_t* rows = rows_of(entry, destination_.scratch);
      check_scales(name, entry, rows);
      backend_.pack(
          {entry.type, entry.rows, entry.cols, rows, is_quantized_here ? type : std::nullopt},
          weight.form, panels);
      weight.panels = panels;
    }
    if (!is_plain(entry)) scratch_bytes_ = std::max(scratch_bytes_, entry.num_bytes());
    num_bytes_ += align_up(weight.num_bytes());
    return weight;
  }

  /// The type that a matrix is packed from, or nullopt (and an error status) when there is none:
  /// said at load, not at the first request.
  std::optional<DType> multiplied_type(const std::string& name, const WeightEntry& entry) {
    DType type = entry.type;
    if (quantization_) {
      const auto chosen = quantized_type(name, entry, *quantization_);
      if (!chosen.ok()) return fail(chosen.error());
      type = chosen.value();
    }
    if (backend_.form_for(type)) return type;
    return fail({ErrorCode::kModelType,
                 name + " is " + dtype_traits(type).name + ", which this backend cannot multiply"});
  }

  /// Checked here, where every block is read anyway.
  void check_scales(const std::string& name, const WeightEntry& entry, const uint8_t* rows) {
    if (entry.type != DType::kMXFP4) return;
    const int64_t blocks_a_row = entry.cols / quant::BlockMXFP4::kElems;
    const auto bad = quant::find_bad_mxfp4_block(rows, entry.rows * blocks_a_row);
    if (!bad) return;
    fail({ErrorCode::kModelFormat, name +
                                       " has an MXFP4 block whose scale is not a number, in row " +
                                       std::to_string(*bad / blocks_a_row)});
  }

  std::nullopt_t fail(const Error& error) {
    if (status_.ok()) status_ = error;
    return std::nullopt;
  }

  static const uint8_t* rows_of(const WeightEntry& entry, uint8_t* scratch) {
    if (is_plain(entry)) return entry.bytes;
    copy_rows(entry, scratch);
    return scratch;
  }

  /// Weights of a norm in float32; empty when the model has no such norm.
  std::vector<float> norm(const std::string& prefix) const {
    std::vector<float> values = optional_vector(prefix + ".weight");
    for (float& value : values) value += norm_offset_;
    return values;
  }

  /// A vector in float32; empty when the file has none.
  std::vector<float> optional_vector(const std::string& name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return {};
    const WeightEntry& entry = found->second;
    std::vector<uint8_t> scratch(is_plain(entry) ? 0 : entry.num_bytes());
    std::vector<float> values(static_cast<size_t>(entry.rows) * static_cast<size_t>(entry.cols));
    quant::dequantize(entry.type, rows_of(entry, scratch.data()),
                      static_cast<int64_t>(values.size()), values.data());
    return values;
  }

  const WeightMap& entries_;
  std::optional<DType> quantization_;
  backend::Backend& backend_;
  Destination destination_;
  float norm_offset_ = 0;  // what the file leaves out of norm weights
  size_t num_bytes_ = 0, scratch_bytes_ = 0;
  Status status_;
};

Status allocate(AlignedBuffer* buffer, size_t bytes, const char* purpose) {
  if (buffer->allocate(bytes)) return {};
  return {ErrorCode::kModelMemory,
          "no memory for " + std::to_string(bytes) + " bytes of " + purpose};
}

}  // namespace

bool MoeWeights::has_quantized_inputs() const {
  return std::any_of(experts.begin(), experts.end(),
                     [](const GatedMlpWeights& expert) { return expert.has_quantized_inputs(); });
}

bool MoeWeights::has_quantized_downs() const {
  return std::any_of(experts.begin(), experts.end(),
                     [](const GatedMlpWeights& expert) { return expert.down.is_quantized(); });
}

Result<std::shared_ptr<const DecoderWeights>> load_decoder_weights(
    const std::string& path, std::optional<DType> quantization, backend::Backend& backend) {
  auto file = loader::open_model_file(path);
  if (!file.ok()) return file.error();
  auto config = read_model_config(file.value());
  if (!config.ok()) return config.error();
  auto entries = map_weights(file.value(), config.value());
  if (!entries.ok()) return entries.error();

  auto weights = std::make_shared<DecoderWeights>();
  weights->config = config.value();
  Packer measure(entries.value(), quantization, backend, {});
  WL_RETURN_IF_ERROR(measure.decoder(weights.get()));
  AlignedBuffer scratch;
  WL_RETURN_IF_ERROR(allocate(&weights->panels, measure.num_bytes(), "weights"));
  WL_RETURN_IF_ERROR(allocate(&scratch, measure.scratch_bytes(), "one weight matrix"));
  Packer pack(entries.value(), quantization, backend, {weights->panels.data(), scratch.data()});
  WL_RETURN_IF_ERROR(pack.decoder(weights.get()));
  return std::shared_ptr<const DecoderWeights>(std::move(weights));
}

}  // namespace wl::models
