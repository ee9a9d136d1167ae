#pragma once
// One request on its way through the scheduler. Owned by EngineCore, engine thread only.

#include <optional>

#include "engine/engine.h"
#include "engine/output_grammar.h"
#include "sampling/token_history.h"

namespace wl::engine {

struct Sequence;

struct Request {
  RequestId id = 0;
  RequestOptions options;  // tokens: moved into the sequence when the request begins
  Sequence* sequence = nullptr;
  bool is_continuation = false;

  bool has_begun = false;     // its prompt is part of the sequence and the scheduler knows it
  bool is_paused = false;     // nothing is computed for it
  bool is_admitted = false;   // has left the waiting queue once
  int num_joined_tokens = 0;  // tokens of the sequence before this request
  int num_prompt_tokens = 0;  // num_joined_tokens + its own
  int num_output_tokens = 0;
  int num_last_appended = 0;  // of these, by the last step that gave any: the last of them is new
                              // to the model, and so are those before it that the grammar forced
  int num_cached_tokens = 0;  // of the prompt, found in KV at admission
  bool is_live_hit = false;
  int num_preempted_tokens = 0;  // computed a second time after preemption, so far
  int num_computed_before_preemption = 0;
  /// The request has ended, and only computes the KV of what its grammar forced at the end: the
  /// last token of the sequence, whose KV nobody needs yet, stands here meanwhile.
  std::optional<int32_t> held_token;
  int next_logits_position = 0;  // where all rows are wanted: those before it were delivered

  sampling::TokenHistory history;        // kept only when the sampling has penalties
  std::optional<OutputGrammar> grammar;  // stands behind the output tokens of this request

  bool wants_prompt_logprobs() const { return options.logprobs && options.logprobs->of_prompt; }
};

}  // namespace wl::engine
