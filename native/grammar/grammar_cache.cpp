#include "grammar/grammar_cache.h"

#include <utility>

#include "grammar/grammar_spec.h"

namespace wl::grammar {
namespace {

Sha256Digest digest_of(std::string_view text) {
  Sha256 hash;
  hash.update(text.data(), text.size());
  return hash.finish();
}

}  // namespace

GrammarCache::GrammarCache(std::shared_ptr<const tokenizer::Tokenizer> tokenizer)
    : GrammarCache(std::move(tokenizer), Limits{}) {}

GrammarCache::GrammarCache(std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
                           const Limits& limits)
    : tokenizer_(std::move(tokenizer)), limits_(limits) {}

Result<std::shared_ptr<const CompiledGrammar>> GrammarCache::compile(std::string_view spec) {
  const std::shared_ptr<Entry> entry = entry_of(spec);
  const std::lock_guard compiling(entry->compiling);
  if (entry->grammar != nullptr) return entry->grammar;
  const auto parsed = parse_grammar_spec(spec);
  if (!parsed.ok()) return parsed.error();
  auto compiled = CompiledGrammar::compile(parsed.value(), vocabulary());
  if (!compiled.ok()) return compiled.error();
  entry->grammar = compiled.value();
  const std::lock_guard lock(mutex_);
  ++num_compiled_;
  return compiled;
}

uint64_t GrammarCache::num_compiled() const {
  const std::lock_guard lock(mutex_);
  return num_compiled_;
}

/// The spec's entry, as the one used last.
std::shared_ptr<GrammarCache::Entry> GrammarCache::entry_of(std::string_view spec) {
  const Sha256Digest digest = digest_of(spec);
  const std::lock_guard lock(mutex_);
  if (const auto found = by_digest_.find(digest); found != by_digest_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front();
  }
  entries_.push_front(std::make_shared<Entry>());
  entries_.front()->digest = digest;
  entries_.front()->spec_bytes = spec.size();
  by_digest_[digest] = entries_.begin();
  spec_bytes_ += spec.size();
  const std::shared_ptr<Entry> added = entries_.front();
  evict();
  return added;
}

/// Whoever uses or compiles an evicted grammar keeps it.
void GrammarCache::evict() {
  while (entries_.size() > limits_.max_grammars ||
         (spec_bytes_ > limits_.max_spec_bytes && entries_.size() > 1)) {
    spec_bytes_ -= entries_.back()->spec_bytes;
    by_digest_.erase(entries_.back()->digest);
    entries_.pop_back();
  }
}

std::shared_ptr<VocabularyIndex> GrammarCache::vocabulary() {
  std::call_once(indexed_, [this] { vocabulary_ = index_vocabulary(tokenizer_); });
  return vocabulary_;
}

std::shared_ptr<GrammarCache> shared_grammar_cache(
    const std::shared_ptr<const tokenizer::Tokenizer>& tokenizer) {
  // Never destroyed: other threads may open a tokenizer while the process exits.
  static auto& mutex = *new std::mutex();
  static auto& caches = *new std::map<const tokenizer::Tokenizer*, std::weak_ptr<GrammarCache>>();
  const std::lock_guard lock(mutex);
  // A cache holds its tokenizer, so no other tokenizer has the address of a cache that lives.
  std::erase_if(caches, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<GrammarCache>& known = caches[tokenizer.get()];
  if (auto cache = known.lock()) return cache;
  auto cache = std::make_shared<GrammarCache>(tokenizer);
  known = cache;
  return cache;
}

}  // namespace wl::grammar
