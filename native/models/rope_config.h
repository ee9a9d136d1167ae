#pragma once
// Rotary embedding settings of a checkpoint, resolved into frequencies.

#include "models/config_source.h"
#include "models/model_config.h"

namespace wl::models {

/// What an architecture knows about its rotary embedding beyond what checkpoints say.
struct RopeTraits {
  /// Of the Q and K rows in GGUF files: some converters permute them for adjacent pairs. HF keeps
  /// rotate-half rows for every architecture.
  RopePairing gguf_pairing = RopePairing::kHalves;
  bool is_yarn_truncated = true;  // unless an HF config says otherwise
};

/// Reads scaling none, linear, llama3, yarn and longrope; any other type, and settings that none of
/// them has, are refused by name.
RopeConfig read_rope(ConfigSource& source, const ModelConfig& config, RopeTraits traits);

/// Without scaling, with the rotary dims and the pairing of `like`.
RopeConfig unscaled_rope(double base, const RopeConfig& like);

/// Refuses every rope setting that has not been read.
void refuse_unread_rope_settings(ConfigSource& source, const ModelConfig& config);

}  // namespace wl::models
