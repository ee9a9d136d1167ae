#pragma once
// ModelRunner over a Decoder and the KV tensors of one engine. Engine thread only.

#include <memory>

#include "backend/backend.h"
#include "base/aligned_buffer.h"
#include "engine/model_runner.h"
#include "models/decoder.h"

namespace wl::engine {

class DecoderRunner : public ModelRunner {
 public:
  /// Allocates `num_blocks` KV blocks. Errors: ERR_MODEL_MEMORY.
  static Result<std::unique_ptr<DecoderRunner>> create(
      std::unique_ptr<backend::Backend> backend,
      std::shared_ptr<const models::DecoderWeights> weights, backend::KvDType kv_type,
      int num_blocks);

  Status forward(const StepBatch& batch, float* logits) override;
  void copy_block(int32_t from, int32_t to, int num_slots) override;
  int vocab() const override { return weights_->config.vocab; }
  int block_size() const override { return backend::kKvBlockSize; }
  int num_blocks() const override { return cache_.num_blocks; }

 private:
  DecoderRunner(std::unique_ptr<backend::Backend> backend,
                std::shared_ptr<const models::DecoderWeights> weights);

  std::unique_ptr<backend::Backend> backend_;
  std::shared_ptr<const models::DecoderWeights> weights_;
  models::Decoder decoder_;
  backend::KvCache cache_;
  AlignedBuffer k_, v_;
};

/// A cache description for a model, without memory: what a block costs.
backend::KvCache kv_cache_shape(const models::ModelConfig& config, backend::KvDType kv_type,
                                int num_blocks);

}  // namespace wl::engine
