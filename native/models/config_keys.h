#pragma once
// The settings of a decoder by their names in GGUF metadata and in an HF config.json. Architectures
// name the few that are theirs alone in their own files.

#include "models/config_fields.h"

namespace wl::models::keys {

constexpr Key kNumLayers{"block_count", "num_hidden_layers"};
constexpr Key kHidden{"embedding_length", "hidden_size"};
constexpr Key kFfn{"feed_forward_length", "intermediate_size"};
constexpr Key kVocab{"vocab_size", "vocab_size"};
constexpr Key kContext{"context_length", "max_position_embeddings"};
constexpr Key kNormEps{"attention.layer_norm_rms_epsilon", "rms_norm_eps"};
constexpr Key kTied{nullptr, "tie_word_embeddings"};
constexpr Key kActivation{nullptr, "hidden_act"};
constexpr Key kQuantization{nullptr, "quantization_config"};

constexpr Key kNumHeads{"attention.head_count", "num_attention_heads"};
constexpr Key kNumKvHeads{"attention.head_count_kv", "num_key_value_heads"};
constexpr Key kHeadDim{"attention.key_length", "head_dim"};
constexpr Key kValueDim{"attention.value_length", nullptr};
constexpr Key kCausal{"attention.causal", nullptr};
constexpr Key kWindow{"attention.sliding_window", "sliding_window"};
constexpr Key kWindowPattern{"attention.sliding_window_pattern", "sliding_window_pattern"};
constexpr Key kLayerTypes{nullptr, "layer_types"};
constexpr Key kUseWindow{nullptr, "use_sliding_window"};
constexpr Key kMaxWindowLayers{nullptr, "max_window_layers"};
constexpr Key kFinalSoftcap{"final_logit_softcapping", "final_logit_softcapping"};

constexpr Key kRotaryShare{nullptr, "partial_rotary_factor"};

// Rope settings: GGUF keys behind "rope.", members of rope_parameters or rope_scaling.
constexpr Key kRotaryDims{"dimension_count", nullptr};
constexpr Key kRopeBase{"freq_base", "rope_theta"};  // HF: beside the settings or among them
constexpr Key kLocalRopeBase{"freq_base_swa", nullptr};
constexpr Key kRopeType{"scaling.type", "rope_type"};
constexpr Key kOldRopeType{nullptr, "type"};
constexpr Key kRopeFactor{"scaling.factor", "factor"};
constexpr Key kOldRopeFactor{"scale_linear", nullptr};
constexpr Key kOriginalContext{"scaling.original_context_length",
                               "original_max_position_embeddings"};
constexpr Key kMagnitude{"scaling.attn_factor", "attention_factor"};
constexpr Key kLowFreqFactor{nullptr, "low_freq_factor"};
constexpr Key kHighFreqFactor{nullptr, "high_freq_factor"};
constexpr Key kLongFactors{nullptr, "long_factor"};
constexpr Key kShortFactors{nullptr, "short_factor"};
constexpr Key kYarnMagnitude{"scaling.yarn_attn_factor", nullptr};
constexpr Key kYarnExtrapolation{"scaling.yarn_ext_factor", nullptr};
constexpr Key kYarnBetaFast{"scaling.yarn_beta_fast", "beta_fast"};
constexpr Key kYarnBetaSlow{"scaling.yarn_beta_slow", "beta_slow"};
constexpr Key kYarnTruncate{nullptr, "truncate"};
constexpr Key kYarnMscale{nullptr, "mscale"};
constexpr Key kYarnMscaleAllDim{nullptr, "mscale_all_dim"};

constexpr Key kNumExperts{"expert_count", "num_local_experts"};
constexpr Key kNumExpertsUsed{"expert_used_count", "num_experts_per_tok"};
constexpr Key kExpertFfn{"expert_feed_forward_length", "moe_intermediate_size"};

}  // namespace wl::models::keys
