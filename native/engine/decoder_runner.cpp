#include "engine/decoder_runner.h"

#include <cstring>
#include <string>

namespace wl::engine {

DecoderRunner::DecoderRunner(std::unique_ptr<backend::Backend> backend,
                             std::shared_ptr<const models::DecoderWeights> weights, int context)
    : backend_(std::move(backend)),
      weights_(std::move(weights)),
      decoder_(*weights_, context, backend_->ops()) {}

Result<std::unique_ptr<DecoderRunner>> DecoderRunner::create(
    std::unique_ptr<backend::Backend> backend,
    std::shared_ptr<const models::DecoderWeights> weights, int context, backend::KvDType kv_type,
    const std::vector<int>& num_blocks) {
  std::unique_ptr<DecoderRunner> runner(
      new DecoderRunner(std::move(backend), std::move(weights), context));
  const models::ModelConfig& config = runner->weights_->config;
  const models::KvLayout layout = models::kv_layout(config);
  for (size_t g = 0; g < layout.groups.size(); ++g) {
    backend::KvCache cache =
        models::kv_cache_shape(config, layout.groups[g], kv_type, num_blocks[g]);
    AlignedBuffer k, v;
    if (!k.allocate(cache.k_bytes()) || !v.allocate(cache.v_bytes())) {
      return Error{ErrorCode::kModelMemory, "no memory for a KV cache of " +
                                                std::to_string(cache.k_bytes() + cache.v_bytes()) +
                                                " bytes"};
    }
    cache.k = k.data();
    cache.v = v.data();
    runner->caches_.push_back(cache);
    runner->buffers_.push_back(std::move(k));
    runner->buffers_.push_back(std::move(v));
  }
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
  decoder_.forward(input, caches_, logits);
  return {};
}

void DecoderRunner::copy_block(int group, int32_t from, int32_t to, int /*num_slots*/) {
  // Whole blocks: keys lie transposed, so the slots in use are not contiguous, and the rest of the
  // copy is overwritten before it is read.
  const backend::KvCache& cache = caches_[static_cast<size_t>(group)];
  std::memcpy(cache.k_block(0, to, 0), cache.k_block(0, from, 0), cache.k_block_bytes());
  std::memcpy(cache.v_block(0, to, 0), cache.v_block(0, from, 0), cache.v_block_bytes());
}

std::vector<kv::KvGroupConfig> DecoderRunner::kv_groups() const {
  const models::KvLayout layout = models::kv_layout(weights_->config);
  std::vector<kv::KvGroupConfig> groups;
  for (size_t g = 0; g < caches_.size(); ++g) {
    groups.push_back({layout.groups[g].window, caches_[g].num_blocks});
  }
  return groups;
}

}  // namespace wl::engine
