#pragma once
// What callers ask of the engine thread, after validation: plain values that own their memory.

#include <optional>
#include <variant>

#include "engine/engine.h"

namespace wl::engine {

struct SubmitCommand {
  RequestId request = 0;
  SequenceId sequence = 0;  // a fresh id
  RequestOptions options;
};
struct ContinueCommand {
  RequestId request = 0;
  SequenceId sequence = 0;
  RequestOptions options;
};
struct ForkCommand {
  SequenceId source = 0, target = 0;  // target: a fresh id
  std::optional<int> num_tokens;      // as in engine.h
};
struct ReleaseCommand {
  SequenceId sequence = 0;
};
struct AbortCommand {
  RequestId request = 0;
};

struct PauseCommand {
  RequestId request = 0;
};
struct ResumeCommand {
  RequestId request = 0;
};

using Command = std::variant<SubmitCommand, ContinueCommand, ForkCommand, ReleaseCommand,
                             AbortCommand, PauseCommand, ResumeCommand>;

}  // namespace wl::engine
