#pragma once
// The small parts of a tokenizer.json: normalizer, pre_tokenizer, post_processor, decoder.

#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "tokenizer/text_rewriter.h"
#include "tokenizer/text_splitter.h"

namespace wl::tokenizer {

struct TextSteps {
  std::vector<RewriteStep> rewrites;
  std::vector<Split> splits;
  bool needs_nfc = false;
  bool is_byte_level = false;
};

/// Both may be null. Errors: ERR_TOKENIZER_TYPE with the name of the step, ERR_TOKENIZER_FORMAT.
Result<TextSteps> read_text_steps(const JsonValue& normalizer, const JsonValue& pre_tokenizer);

/// Text of the special token that TemplateProcessing puts in front.
std::optional<std::string> bos_of_post_processor(const JsonValue& post_processor);

bool decodes_byte_level(const JsonValue& decoder);
bool strips_leading_space(const JsonValue& decoder);

}  // namespace wl::tokenizer
