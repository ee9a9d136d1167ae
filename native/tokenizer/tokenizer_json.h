#pragma once
// What a tokenizer.json says, taken from its text in one walk. json_tokenizer.h judges it and makes
// the tokenizer.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/json_slices.h"
#include "base/result.h"
#include "tokenizer/token_table.h"
#include "tokenizer/vocabulary.h"

namespace wl::tokenizer {

struct VocabEntry {
  std::string_view text;
  TokenId id;
};

/// A long part of the model, taken from the text in passing. A file of a kind that is not supported
/// is refused as that, so what is wrong with the part is told when its turn comes.
template <class Entry>
struct LongPart {
  bool is_there = false;
  std::vector<Entry> entries;
  Status problem;
};

/// Texts point into the file or into `unescaped`.
struct TokenizerJson {
  std::deque<std::string> unescaped;       // texts that are not in the file as they are
  std::map<std::string, JsonValue> steps;  // added_tokens, normalizer, ... those that are there
  bool has_model = false;
  std::string type = "BPE";
  LongPart<VocabEntry> vocab;
  LongPart<ListedMerge> merges;
  std::optional<std::string> unknown;
  bool has_byte_fallback = false;
  bool ignores_merges = false;
  bool fuses_unknown = false;
};

/// The whole text, once. Errors: ERR_TOKENIZER_FORMAT; ERR_TOKENIZER_TYPE for BPE with a prefix or
/// suffix.
Status walk_tokenizer_json(std::string_view text, TokenizerJson* out);

/// ERR_TOKENIZER_FORMAT: "tokenizer.json " and what is wrong with it.
Error bad_tokenizer_json(const std::string& what);

/// nullopt when the number cannot be a token's id.
std::optional<TokenId> token_id(int64_t number);

}  // namespace wl::tokenizer
