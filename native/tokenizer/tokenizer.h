#pragma once
// Text -> token ids and token id -> bytes, for byte-level and SentencePiece BPE. Made from the
// bytes of a file (gguf_tokenizer.h, json_tokenizer.h), then immutable: one per file serves all
// threads. Takes any bytes: what is no UTF-8 is encoded byte by byte. Knows no chat template and no
// engine.
//
// An encoding goes through: special tokens by their spelling; then for each text between them the
// rewriting (spaces to U+2581 and the like), the splits of the pre-tokenizer, BPE of each piece.
// Unicode normalization (NFC) is the caller's, where `facts().needs_nfc` says so.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/bpe_model.h"
#include "tokenizer/space_cutter.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text_rewriter.h"
#include "tokenizer/text_splitter.h"

namespace wl::tokenizer {

/// What a tokenizer file says beside how to encode.
struct TokenizerFacts {
  std::string kind;  // "byte-level" or "sentencepiece"
  std::optional<TokenId> bos_id;
  bool adds_bos = false;         // a prompt starts with BOS
  std::vector<TokenId> end_ids;  // declared ends of a generation
  bool needs_nfc = false;
  bool strips_leading_space = false;  // encoding puts a space in front, so decoding takes one away
  std::optional<std::string> warning;
};

/// Bytes that each id adds to output: those of id i are [start[i], start[i + 1]). Control tokens
/// and placeholders add none.
struct TokenBytes {
  std::string bytes;
  std::vector<uint32_t> starts = {0};  // [num_tokens + 1]
};

struct TokenizerParts {
  BpeModel model;
  SpecialTokens special_tokens;
  TextRewriter rewriter;
  TextSplitter splitter;
  std::optional<SpaceCutter> space_cutter;
  TokenBytes token_bytes;
  TokenizerFacts facts;
};

struct EncodeOptions {
  enum class ControlTokens {
    kAsText,   // the spelling of a control token is text
    kParsed,   // it becomes the token
    kGuarded,  // parsed, but content protected by src/text/guard.ts stays text
  };
  ControlTokens control_tokens = ControlTokens::kAsText;
  /// The text begins a prompt: some tokenizers put a space in front of that.
  bool starts_prompt = true;
};

class Tokenizer {
 public:
  explicit Tokenizer(TokenizerParts parts);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;

  /// Linear in the text up to a logarithm. Text has less than 1 GiB. Any thread.
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const;

  /// The token of this exact spelling, special tokens included.
  std::optional<TokenId> find(std::string_view text) const;

  size_t num_tokens() const { return parts_.token_bytes.starts.size() - 1; }
  const TokenBytes& token_bytes() const { return parts_.token_bytes; }
  const TokenizerFacts& facts() const { return parts_.facts; }
  const std::vector<SpecialToken>& special_tokens() const { return parts_.special_tokens.all(); }

 private:
  class Encoding;
  struct Scratch;
  struct ScratchPool;

  TokenizerParts parts_;
  SpecialTokens control_tokens_, text_tokens_;  // of parts_.special_tokens
  std::unique_ptr<ScratchPool> scratch_pool_;
};

}  // namespace wl::tokenizer
