#pragma once
// ModelRunner over a Decoder and the KV tensors of one engine. Engine thread only.

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "base/aligned_buffer.h"
#include "engine/model_runner.h"
#include "models/decoder.h"

namespace wl::engine {

class DecoderRunner : public ModelRunner {
 public:
  /// For sequences of up to `context` tokens. Allocates num_blocks[g] KV blocks for each group g of
  /// models::kv_layout(). Errors: ERR_MODEL_MEMORY.
  static Result<std::unique_ptr<DecoderRunner>> create(
      std::unique_ptr<backend::Backend> backend,
      std::shared_ptr<const models::DecoderWeights> weights, int context, backend::KvDType kv_type,
      const std::vector<int>& num_blocks);

  Status forward(const StepBatch& batch, float* logits) override;
  void copy_block(int group, int32_t from, int32_t to, int num_slots) override;
  int vocab() const override { return weights_->config.vocab; }
  int block_size() const override { return backend::kKvBlockSize; }
  std::vector<kv::KvGroupConfig> kv_groups() const override;

 private:
  DecoderRunner(std::unique_ptr<backend::Backend> backend,
                std::shared_ptr<const models::DecoderWeights> weights, int context);

  std::unique_ptr<backend::Backend> backend_;
  std::shared_ptr<const models::DecoderWeights> weights_;
  models::Decoder decoder_;
  std::vector<backend::KvCache> caches_;  // one for each group
  std::vector<AlignedBuffer> buffers_;    // K and V of each
};

}  // namespace wl::engine
