#pragma once
// Attention of one layer: projections, their norms, rotation, the KV cache, the output projection.
// Its features (biases, norms of q and k, rotation, window, sinks) are declared by the layer's
// configuration and weights.

#include "models/decoder_input.h"
#include "models/decoder_weights.h"
#include "models/layers/buffer.h"
#include "models/layers/rope_tables.h"

namespace wl::models {

/// Where a layer's keys and values are, and those of this step go.
struct KvAccess {
  const backend::KvCache& cache;
  const KvGroupInput& blocks;
  int layer;  // of the cache
};

class AttentionBlock {
 public:
  /// All outlive the block.
  AttentionBlock(const ModelConfig& config, const RopeTables& ropes, backend::Ops& ops)
      : config_(config), ropes_(ropes), ops_(ops) {}

  /// out = O(attention(x)); x, out [tokens, hidden]. Fills the cache at the tokens' slots.
  void forward(backend::Matrix out, backend::Matrix x, const AttentionWeights& weights,
               const LayerConfig& layer, const DecoderInput& input, const KvAccess& kv);

 private:
  void normalize(backend::Matrix heads, const std::vector<float>& weight);

  const ModelConfig& config_;
  const RopeTables& ropes_;
  backend::Ops& ops_;
  Buffer q_, k_, v_, attended_;
};

}  // namespace wl::models
