#include "engine/batch_builder.h"

#include <algorithm>

#include "engine/sequence.h"

namespace wl::engine {

int first_logits_position(const ScheduledTokens& scheduled) {
  const Request& request = *scheduled.request;
  const int begin = request.sequence->num_computed_tokens;
  const int end = begin + scheduled.num_tokens;
  if (request.options.logits == LogitsMode::kAll) {
    return std::clamp(request.next_logits_position, begin, end);
  }
  return scheduled.samples ? end - 1 : end;
}

BuiltBatch build_batch(const StepPlan& plan, int block_size) {
  BuiltBatch built;
  StepBatch& batch = built.batch;
  batch.cu_seqlens_q.push_back(0);
  KvGroupBatch& kv = batch.groups.emplace_back();
  kv.block_table_starts.push_back(0);
  built.logit_row_starts.push_back(0);
  for (const ScheduledTokens& scheduled : plan.scheduled) {
    const Sequence& sequence = *scheduled.request->sequence;
    const int begin = sequence.num_computed_tokens;
    const int end = begin + scheduled.num_tokens;
    const int first_row = first_logits_position(scheduled);
    for (int position = begin; position < end; ++position) {
      if (position >= first_row) batch.logit_rows.push_back(batch.num_tokens());
      const size_t block_idx = static_cast<size_t>(position / block_size);
      batch.token_ids.push_back(sequence.tokens[static_cast<size_t>(position)]);
      batch.positions.push_back(position);
      kv.slot_mapping.push_back(sequence.blocks.table[block_idx] * block_size +
                                position % block_size);
    }
    batch.cu_seqlens_q.push_back(batch.num_tokens());
    batch.context_lens.push_back(end);
    const auto table = sequence.blocks.table.begin();
    kv.block_tables.insert(kv.block_tables.end(), table,
                           table + (end + block_size - 1) / block_size);
    kv.block_table_starts.push_back(static_cast<int32_t>(kv.block_tables.size()));
    built.logit_row_starts.push_back(static_cast<int>(batch.logit_rows.size()));
  }
  return built;
}

}  // namespace wl::engine
