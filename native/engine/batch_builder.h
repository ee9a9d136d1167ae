#pragma once
// StepPlan -> StepBatch: lays the scheduled tokens of all sequences end to end.

#include <vector>

#include "engine/model_runner.h"
#include "engine/step_plan.h"

namespace wl::engine {

struct BuiltBatch {
  StepBatch batch;
  /// [num_scheduled + 1] entry i of the plan has the logit rows [starts[i], starts[i + 1]); when it
  /// samples, its last row is the one to sample from.
  std::vector<int> logit_row_starts;
};

/// No rows for tokens whose logits nobody reads: all but the last of a chunk, unless the request
/// wants them all (LogitsMode::kAll, log probabilities of the prompt) and did not get them before a
/// preemption.
BuiltBatch build_batch(const StepPlan& plan, int num_groups, int block_size);

/// Position of a scheduled entry's first logit row; its rows are consecutive positions.
int first_logits_position(const ScheduledTokens& scheduled);

}  // namespace wl::engine
