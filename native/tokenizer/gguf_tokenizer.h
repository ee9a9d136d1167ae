#pragma once
// A Tokenizer from the `tokenizer.ggml.` keys of a GGUF file: byte-level BPE ("gpt2"),
// SentencePiece BPE ("llama") and BPE over text ("gemma4"). Other kinds are refused by name.

#include <map>
#include <string>

#include "base/result.h"
#include "loader/model_file.h"
#include "tokenizer/tokenizer.h"

namespace wl::tokenizer {

/// Never crashes, whatever the metadata holds.
/// Errors: ERR_TOKENIZER_FORMAT with the key, ERR_TOKENIZER_TYPE with the name of the kind.
Result<Tokenizer> tokenizer_from_gguf(const std::map<std::string, loader::MetaValue>& metadata);

}  // namespace wl::tokenizer
