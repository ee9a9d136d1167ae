#pragma once
// Byte-pair encoding of one piece of text: from its smallest symbols, always the pair of lowest
// rank joins, leftmost first, until none is left. O(n log n) in the length of the piece. Immutable
// and shared by threads; what a call needs beside the model is in BpeScratch.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/merge_table.h"
#include "tokenizer/piece_cache.h"
#include "tokenizer/vocabulary.h"

namespace wl::tokenizer {

struct BpeModel {
  /// What a piece starts as: bytes (GPT-2 and its heirs) or characters (SentencePiece).
  enum class Symbols { kBytes, kCharacters };

  Symbols symbols = Symbols::kBytes;
  Vocabulary vocabulary;
  MergeTable merges;
  /// A whole piece that is a vocabulary entry is taken without looking at merges.
  bool ignore_merges = false;
  /// Token of each byte. kBytes: the symbols. kCharacters: spells characters without a token.
  std::array<std::optional<TokenId>, 256> byte_tokens{};
  /// For what has no token at all; without one it is left out, as the reference library does.
  std::optional<TokenId> unknown;
  /// Unknown symbols in a row become one token.
  bool fuses_unknown = false;
};

/// Working memory of one encoding at a time.
class BpeScratch {
 public:
  /// Appends the tokens of a piece.
  void encode(const BpeModel& model, std::string_view piece, std::vector<TokenId>* out);

 private:
  void split(const BpeModel& model, std::string_view piece);
  void split_characters(const BpeModel& model, std::string_view piece);
  void push_unknown(const BpeModel& model);
  void merge_short(const BpeModel& model);
  void merge_long(const BpeModel& model);
  void rank_pair(const BpeModel& model, uint32_t left, uint32_t right);

  std::vector<TokenId> symbols_;
  std::vector<Merge> pairs_;  // of symbol i and the one behind it
  std::vector<uint32_t> next_, previous_;
  std::vector<uint64_t> queue_;  // min-heap of rank << 32 | symbol index
  PieceCache cache_;
};

}  // namespace wl::tokenizer
