#include "engine/batch_builder.h"

#include <algorithm>

#include "engine/sequence.h"

namespace wl::engine {
namespace {

/// One sequence: where its tokens [begin, end) go, and the blocks of all its tokens.
void append_blocks(KvGroupBatch& group, const std::vector<kv::BlockId>& blocks, int begin, int end,
                   int block_size) {
  for (int position = begin; position < end; ++position) {
    const kv::BlockId id = blocks[static_cast<size_t>(position / block_size)];
    group.slot_mapping.push_back(id * block_size + position % block_size);
  }
  group.block_tables.insert(group.block_tables.end(), blocks.begin(),
                            blocks.begin() + (end + block_size - 1) / block_size);
  group.block_table_starts.push_back(static_cast<int32_t>(group.block_tables.size()));
}

}  // namespace

int first_logits_position(const ScheduledTokens& scheduled) {
  const Request& request = *scheduled.request;
  const int begin = request.sequence->num_computed_tokens;
  const int end = begin + scheduled.num_tokens;
  if (request.options.logits == LogitsMode::kAll || request.wants_prompt_logprobs()) {
    return std::clamp(request.next_logits_position, begin, end);
  }
  return scheduled.samples ? end - 1 : end;
}

BuiltBatch build_batch(const StepPlan& plan, int num_groups, int block_size) {
  BuiltBatch built;
  StepBatch& batch = built.batch;
  batch.groups.resize(static_cast<size_t>(num_groups));
  batch.cu_seqlens_q.push_back(0);
  for (KvGroupBatch& group : batch.groups) group.block_table_starts.push_back(0);
  built.logit_row_starts.push_back(0);
  for (const ScheduledTokens& scheduled : plan.scheduled) {
    const Sequence& sequence = *scheduled.request->sequence;
    const int begin = sequence.num_computed_tokens;
    const int end = begin + scheduled.num_tokens;
    const int first_row = first_logits_position(scheduled);
    for (int position = begin; position < end; ++position) {
      if (position >= first_row) batch.logit_rows.push_back(batch.num_tokens());
      batch.token_ids.push_back(sequence.tokens[static_cast<size_t>(position)]);
      batch.positions.push_back(position);
    }
    batch.cu_seqlens_q.push_back(batch.num_tokens());
    batch.context_lens.push_back(end);
    for (size_t g = 0; g < batch.groups.size(); ++g) {
      append_blocks(batch.groups[g], sequence.blocks.tables[g].blocks, begin, end, block_size);
    }
    built.logit_row_starts.push_back(static_cast<int>(batch.logit_rows.size()));
  }
  return built;
}

}  // namespace wl::engine
