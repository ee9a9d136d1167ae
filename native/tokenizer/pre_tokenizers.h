#pragma once
// The pre-tokenizer that a GGUF file names in `tokenizer.ggml.pre`. A wrong pattern gives silently
// worse output, so a name that is not in the table is refused.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wl::tokenizer {

/// The split of GPT-2, which is also what tokenizer.json means by ByteLevel with `use_regex`.
extern const char* const kGpt2Pattern;

struct PreTokenizer {
  /// Applied one after the other, each to the pieces of the one before; gaps are pieces too.
  std::vector<std::string> patterns;
  /// A whole piece that is a vocabulary entry is taken without looking at merges.
  bool ignore_merges = false;
  /// `add_bos_token` of files that lack the key.
  bool add_bos = false;
  /// GGUF has no key for the normalizer; the tokenizers of this group were made with NFC.
  bool nfc = false;
};

/// Of a name; a file without one gets the default of the format's reference implementation.
/// Errors: ERR_TOKENIZER_TYPE.
Result<PreTokenizer> pre_tokenizer(const std::optional<std::string>& name);

/// True when `name` stands for the default, which loses quality: worth a warning.
bool is_default_pre_tokenizer(const std::optional<std::string>& name);

}  // namespace wl::tokenizer
