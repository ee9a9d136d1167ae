#pragma once
// Compiled grammars over one tokenizer, found by the content of their specs: agents send the same
// tools with every request. Those used least recently go first. Thread-safe; threads that ask for
// one grammar at once compile it once.

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/result.h"
#include "base/sha256.h"
#include "grammar/grammar.h"
#include "tokenizer/tokenizer.h"

namespace wl::grammar {

class GrammarCache {
 public:
  /// What is kept. Bytes are those of the specs: what a grammar takes is some multiple of it.
  struct Limits {
    size_t max_grammars = 256;
    size_t max_spec_bytes = size_t{8} << 20;
  };

  explicit GrammarCache(std::shared_ptr<const tokenizer::Tokenizer> tokenizer);
  GrammarCache(std::shared_ptr<const tokenizer::Tokenizer> tokenizer, const Limits& limits);

  /// The grammar of a spec (grammar_spec.h). The first one also indexes the vocabulary. Errors:
  /// ERR_GRAMMAR; they are not kept.
  Result<std::shared_ptr<const CompiledGrammar>> compile(std::string_view spec);

  /// Grammars that were compiled so far, and so were not found.
  uint64_t num_compiled() const;

 private:
  struct Entry {
    Sha256Digest digest{};
    size_t spec_bytes = 0;
    std::mutex compiling;  // held while the first thread compiles
    std::shared_ptr<const CompiledGrammar> grammar;
  };
  using Entries = std::list<std::shared_ptr<Entry>>;

  std::shared_ptr<Entry> entry_of(std::string_view spec);
  void evict();
  std::shared_ptr<VocabularyIndex> vocabulary();

  const std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  const Limits limits_;
  std::once_flag indexed_;
  std::shared_ptr<VocabularyIndex> vocabulary_;

  mutable std::mutex mutex_;  // guards what follows
  Entries entries_;           // used last: first
  std::map<Sha256Digest, Entries::iterator> by_digest_;
  size_t spec_bytes_ = 0;
  uint64_t num_compiled_ = 0;
};

/// The cache of the process for this tokenizer; lives as long as somebody holds it.
std::shared_ptr<GrammarCache> shared_grammar_cache(
    const std::shared_ptr<const tokenizer::Tokenizer>& tokenizer);

}  // namespace wl::grammar
