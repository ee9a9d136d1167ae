#pragma once
// What a request may ask for. Checked on the caller's thread, before anything is queued.

#include "engine/engine.h"

namespace wl::engine {

struct RequestLimits {
  int vocab = 0;
  int max_sequence_tokens = 0;  // prompt + output, of one sequence
};

/// The limits of an engine: the configured context, or what the KV pool holds if that is less, so
/// that a sequence that runs alone always fits.
RequestLimits request_limits(const EngineConfig& config, const ModelRunner& runner);

/// num_joined: tokens of the sequence that the request appends to.
/// Errors: ERR_INVALID_ARGUMENT, ERR_CONTEXT_TOO_LONG.
Status validate(const RequestOptions& options, const RequestLimits& limits, int num_joined);

/// ERR_CONTEXT_TOO_LONG when no room for the prompt, and one output token if it wants any, is left.
Status check_length(const RequestOptions& options, const RequestLimits& limits, int num_joined);

}  // namespace wl::engine
