#pragma once
// The engine: one thread that owns scheduler, KV bookkeeping and the model runner, and turns
// requests into tokens by continuous batching with chunked prefill.
// JS threads call submit/continue/fork/release/abort/pause/resume/stats/close; these only validate,
// copy and push on a bounded queue. The engine thread calls the step sink once per step, for all
// requests together. It knows nothing of Node.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/model_runner.h"
#include "grammar/grammar.h"
#include "sampling/logprobs.h"
#include "sampling/sampling_params.h"

namespace wl::engine {

using RequestId = uint32_t;
using SequenceId = uint32_t;

using sampling::SamplingParams;

enum class LogitsMode : uint8_t {
  kNone,
  kSampled,
  kAll
};  // kAll: every computed prompt row as well

/// Log probabilities (sampling/logprobs.h) of each output token and of the most likely ones there.
struct LogprobOptions {
  int num_top = 0;  // of the most likely ones; at most 20
  /// Of the prompt's tokens as well, all but the first, and then nothing of it comes from the
  /// prefix cache. Not for continuations.
  bool of_prompt = false;
};

struct RequestOptions {
  std::vector<int32_t> tokens;  // whole prompt, or for a continuation only the new tokens
  std::string tenant_salt;      // block 0 of the hash chain; ignored by a continuation
  SamplingParams sampling;
  int max_output_tokens = 0;            // >= 1 unless prefill_only
  std::vector<int32_t> stop_token_ids;  // sampled one ends the request with kStop; it is emitted
  bool keep_sequence = false;           // keep the finished sequence live for continue/fork
  bool prefill_only = false;            // compute the prompt's KV, sample nothing (warmup)
  LogitsMode logits = LogitsMode::kNone;
  std::optional<LogprobOptions> logprobs;  // none: they cost nothing
  /// What the output must match; null: anything. A stop token may come where the text may end;
  /// where it can not go on, the first one ends the request, or none when there is none.
  std::shared_ptr<const grammar::CompiledGrammar> grammar;
  /// Tokens that the grammar forces are appended without sampling, and a run of them is computed in
  /// one step. The output is the same without. Off where logits or log probabilities are wanted:
  /// each token needs a row.
  bool jump_forward = true;
};

enum class FinishReason : uint8_t { kNone, kStop, kLength, kAborted, kFailed, kPrefilled };

/// What one step did for one request.
struct RequestEvent {
  RequestId request = 0;
  SequenceId sequence = 0;
  std::vector<int32_t> tokens;  // sampled or forced this step, in order
  FinishReason finish = FinishReason::kNone;
  bool is_admitted = false;  // first event of a request: left the waiting queue
  int prompt_tokens = 0;     // all prompt tokens (a continuation counts what it joined)
  int cached_tokens = 0;     // of these, taken from KV
  bool is_live_hit = false;  // cached_tokens come from a live sequence
  int preempted_tokens = 0;  // prompt tokens recomputed after preemption, so far
  ErrorCode error = ErrorCode::kInternal;  // when finish == kFailed
  std::vector<float> logits;               // [rows, vocab] per LogitsMode, in position order
  /// Per LogprobOptions: rows of prompt tokens, in order, then one for each of `tokens`.
  sampling::LogprobRows logprobs;
};

struct StepEvents {
  std::vector<RequestEvent> events;
  int64_t step_us = 0;
};

struct EngineStats {
  int num_waiting = 0, num_running = 0, num_live_sequences = 0;
  int num_blocks = 0, num_free_blocks = 0, num_cached_blocks = 0;  // of the fullest KV group
  int block_size = 0;
  uint64_t num_steps = 0, prefill_tokens = 0, cached_tokens = 0, decode_tokens = 0;
  uint64_t hashed_tokens = 0, num_preemptions = 0;
  uint64_t forced_tokens = 0;  // output tokens that were not sampled: the grammar had one choice
  uint64_t mask_waits = 0;     // masks that were not ready when the forward pass was
};

struct EngineConfig {
  int max_context_tokens = 0;  // longest sequence, prompt + output
  int max_batch_tokens = 512;  // token budget of one step
  int max_running = 16;        // sequences in one step
  int max_queued = 1024;       // submit queue + waiting; beyond it ERR_QUEUE_FULL
  int max_prefill_chunk = 0;   // largest share of one step for one prompt; 0 = the budget
  bool enable_prefix_cache = true;
  std::string fingerprint;  // model identity: root of the block hash chain
};

/// Called on the engine thread, once per step that has something to say. Must not block.
using StepSink = std::function<void(StepEvents)>;

class Engine {
 public:
  /// Starts the engine thread. The runner lives until the engine is destroyed.
  Engine(std::unique_ptr<ModelRunner> runner, EngineConfig config, StepSink sink);
  ~Engine();  // close()
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Errors: ERR_INVALID_ARGUMENT (empty prompt, token out of range, bad sampling value, a grammar
  /// over a larger vocabulary than the model's), ERR_CONTEXT_TOO_LONG, ERR_QUEUE_FULL,
  /// ERR_ENGINE_CLOSED. A grammar that the vocabulary cannot spell, or that is too ambiguous for
  /// the output so far, ends the request with kFailed and ERR_GRAMMAR.
  Result<RequestId> submit(RequestOptions options);
  /// Appends options.tokens to a live sequence and generates. If the sequence's own request still
  /// runs (a warmup in prefill), the continuation waits for it and joins its KV.
  /// Errors: as submit, and ERR_SEQUENCE_RELEASED. A sequence that is released, fails or outgrows
  /// the context before the continuation starts ends it with kFailed and the same codes.
  Result<RequestId> continue_sequence(SequenceId id, RequestOptions options);
  /// A second live sequence with the first num_tokens tokens (nullopt: all): shares full blocks,
  /// copy-on-write on the last one. Where a sliding window has passed them, its KV is looked up in
  /// the cache by the hashes that are known.
  /// Errors: ERR_SEQUENCE_RELEASED, ERR_QUEUE_FULL, ERR_INVALID_ARGUMENT (fewer tokens are there).
  Result<SequenceId> fork(SequenceId id, std::optional<int> num_tokens = {});
  /// Gives a live sequence up: its blocks become ordinary cached blocks. Unknown id: no error.
  void release(SequenceId id);
  /// Ends a request with kAborted within one step. Unknown or finished id: no error.
  void abort(RequestId id);
  /// Computes nothing for a request until `resume`, within one step: its client takes no output.
  /// Its slot is free for others; its KV stays unless others need the blocks, and is then computed
  /// again. Idempotent; unknown or finished id: no error.
  void pause(RequestId id);
  void resume(RequestId id);
  EngineStats stats() const;
  /// Stops the thread after the running step; every open request ends with
  /// kFailed/ERR_ENGINE_CLOSED. Idempotent, callable from any thread but the engine's own.
  void close();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wl::engine
