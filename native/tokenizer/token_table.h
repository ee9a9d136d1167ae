#pragma once
// The token list of a file, whatever its container, made into what a Tokenizer needs: vocabulary,
// byte tokens, special tokens, output bytes, merges.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/merge_table.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace wl::tokenizer {

/// How a file spells bytes: in GPT-2's printable alphabet, or as text with U+2581 and `<0xNN>`.
enum class Spelling { kByteLevel, kSentencePiece };

enum class TokenRole {
  kNormal,
  kControl,   // never text: not produced by encoding text, shown as nothing
  kText,      // added; ordinary text that is found by its spelling
  kReserved,  // a placeholder: like kNormal, but shown as nothing
};

struct ListedToken {
  std::string_view text;  // empty: the id has no token
  TokenRole role = TokenRole::kNormal;
};

struct ListedMerge {
  std::string_view left, right;
};

class TokenTable {
 public:
  /// @param tokens by id. Errors: ERR_TOKENIZER_FORMAT: one token twice, too
  /// many tokens or too long ones.
  static Result<TokenTable> make(const std::vector<ListedToken>& tokens, Spelling spelling);

  /// @param merges lowest rank first, spelled as in the file. One whose result or part is a control
  /// token is left out. Errors: ERR_TOKENIZER_FORMAT when a token that one names does not exist.
  Result<MergeTable> merge_table(const std::vector<ListedMerge>& merges) const;

  /// The token of a text as the file spells it.
  std::optional<TokenId> find_text(std::string_view text) const;

  /// For SentencePiece models that may be cut at spaces without changing their tokens.
  std::optional<SpaceCutter> space_cutter(const std::vector<ListedToken>& tokens) const;

  Vocabulary vocabulary;
  std::array<std::optional<TokenId>, 256> byte_tokens{};
  TokenBytes token_bytes;

 private:
  TokenTable(size_t num_tokens, Spelling spelling)
      : vocabulary(num_tokens), control_(0), spelling_(spelling) {}
  Status add_token(TokenId id, const ListedToken& token);
  void find_byte_tokens();
  std::optional<TokenId> find_normal(std::string_view text) const;
  Status check_without_token(const ListedMerge& merge) const;
  void append_output(const ListedToken& token);

  Vocabulary control_;  // spelled as in the file
  Spelling spelling_;
};

/// Errors: ERR_TOKENIZER_FORMAT when there is text that a model has neither token nor unknown for.
Status check_spells_all(const BpeModel& model);

/// Whether an added token is one of the numbered spares of Gemma-like vocabularies (`<unused7>`).
bool is_reserved_text(std::string_view text);

}  // namespace wl::tokenizer
