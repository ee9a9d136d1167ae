#pragma once
// From the tensors of a checkpoint to the matrices and vectors of the decoder.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "loader/model_file.h"
#include "models/model_config.h"
#include "models/weight_entry.h"

namespace wl::models {

/// The decoder's weights and all that is wrong with the file's tensors.
struct WeightReading {
  /// One entry for each matrix or vector that the decoder uses, by its name inside, whatever the
  /// container and however the file fuses them:
  ///   token_embd.weight output_norm.weight output.{weight,bias}
  ///   blk.N.{attn_norm,attn_q,attn_k,attn_v,attn_output,attn_q_norm,attn_k_norm,attn_sinks,
  ///     post_attention_norm,ffn_norm,ffn_gate,ffn_up,ffn_down,post_ffw_norm}.{weight,bias}
  ///   blk.N.ffn_gate_inp.{weight,bias} blk.N.ffn_{gate,up,down}_exps.E.{weight,bias}  expert E
  /// Q and K rows keep the file's order; RopeConfig::pairing says how they rotate.
  std::map<std::string, WeightEntry> entries;
  std::vector<Error> problems;
};

WeightReading check_weights(const loader::ModelFile& file, const ModelConfig& config);

/// Tensors whose type this build does not compute; needs no configuration.
std::vector<Error> check_types(const loader::ModelFile& file);

/// The entries of check_weights. Errors, the first problem: ERR_MODEL_TENSOR (missing, unknown,
/// duplicate, wrong shape), ERR_MODEL_TYPE (type out of scope, with the nearest that works).
Result<std::map<std::string, WeightEntry>> map_weights(const loader::ModelFile& file,
                                                       const ModelConfig& config);

}  // namespace wl::models
