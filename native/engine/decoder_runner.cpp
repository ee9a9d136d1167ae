#include "engine/decoder_runner.h"

#include <cstring>
#include <string>

namespace wl::engine {

backend::KvCache kv_cache_shape(const models::ModelConfig& config, backend::KvDType kv_type,
                                int num_blocks) {
  backend::KvCache cache;
  cache.dtype = kv_type;
  cache.num_layers = config.num_layers;
  cache.num_blocks = num_blocks;
  cache.num_kv_heads = config.num_kv_heads;
  cache.head_dim = config.head_dim;
  return cache;
}

DecoderRunner::DecoderRunner(std::unique_ptr<backend::Backend> backend,
                             std::shared_ptr<const models::DecoderWeights> weights)
    : backend_(std::move(backend)),
      weights_(std::move(weights)),
      decoder_(*weights_, backend_->ops()) {}

Result<std::unique_ptr<DecoderRunner>> DecoderRunner::create(
    std::unique_ptr<backend::Backend> backend,
    std::shared_ptr<const models::DecoderWeights> weights, backend::KvDType kv_type,
    int num_blocks) {
  std::unique_ptr<DecoderRunner> runner(new DecoderRunner(std::move(backend), std::move(weights)));
  runner->cache_ = kv_cache_shape(runner->weights_->config, kv_type, num_blocks);
  if (!runner->k_.allocate(runner->cache_.k_bytes()) ||
      !runner->v_.allocate(runner->cache_.v_bytes())) {
    return Error{ErrorCode::kModelMemory,
                 "no memory for a KV cache of " +
                     std::to_string(runner->cache_.k_bytes() + runner->cache_.v_bytes()) +
                     " bytes"};
  }
  runner->cache_.k = runner->k_.data();
  runner->cache_.v = runner->v_.data();
  return runner;
}

Status DecoderRunner::forward(const StepBatch& batch, float* logits) {
  models::DecoderInput input;
  input.num_tokens = batch.num_tokens();
  input.token_ids = batch.token_ids.data();
  input.num_seqs = batch.num_seqs();
  input.positions = batch.positions.data();
  input.cu_seqlens_q = batch.cu_seqlens_q.data();
  for (const KvGroupBatch& kv : batch.groups) {
    input.groups.push_back(
        {kv.slot_mapping.data(), kv.block_tables.data(), kv.block_table_starts.data()});
  }
  input.num_logits = static_cast<int>(batch.logit_rows.size());
  input.logit_rows = batch.logit_rows.data();
  decoder_.forward(input, {&cache_, 1}, logits);
  return {};
}

void DecoderRunner::copy_block(int32_t from, int32_t to, int /*num_slots*/) {
  // Whole blocks: keys lie transposed, so the slots in use are not contiguous, and the rest of the
  // copy is overwritten before it is read.
  std::memcpy(cache_.k_block(0, to, 0), cache_.k_block(0, from, 0), cache_.k_block_bytes());
  std::memcpy(cache_.v_block(0, to, 0), cache_.v_block(0, from, 0), cache_.v_block_bytes());
}

}  // namespace wl::engine
