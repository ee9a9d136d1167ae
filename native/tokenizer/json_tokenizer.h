#pragma once
// A Tokenizer from a tokenizer.json: BPE with the normalizers and pre-tokenizers that BPE models
// come with. What is not supported is refused by name (ERR_TOKENIZER_TYPE); the caller may then run
// the reference library instead.

#include <string_view>

#include "base/result.h"
#include "tokenizer/tokenizer.h"

namespace wl::tokenizer {

/// Never crashes, whatever the text holds. `facts().bos_id` is what the post-processor puts in
/// front; ends of generation stand in other files of the folder.
/// Errors: ERR_TOKENIZER_FORMAT, ERR_TOKENIZER_TYPE.
Result<Tokenizer> tokenizer_from_json(std::string_view json);

}  // namespace wl::tokenizer
