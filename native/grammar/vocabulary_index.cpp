#include "grammar/vocabulary_index.h"

#include <utility>

#include "grammar/text_dfa.h"

namespace wl::grammar {
namespace {

// Markers come from the output formats of models, so there are few; a bound all the same.
constexpr size_t kMaxTextDfas = 64;
constexpr size_t kMaxAutomata = 4096;

}  // namespace

VocabularyIndex::VocabularyIndex(std::shared_ptr<const tokenizer::Tokenizer> tokenizer)
    : tokenizer_(std::move(tokenizer)), trie_(tokenizer_->token_bytes()) {}

std::string_view VocabularyIndex::bytes(TokenId token) const {
  const tokenizer::TokenBytes& all = tokenizer_->token_bytes();
  const auto at = static_cast<size_t>(token);
  return std::string_view(all.bytes).substr(all.starts[at], all.starts[at + 1] - all.starts[at]);
}

const tokenizer::SpecialToken* VocabularyIndex::special_token_at(std::string_view text) const {
  const tokenizer::SpecialToken* longest = nullptr;
  for (const tokenizer::SpecialToken& token : tokenizer_->special_tokens()) {
    if (!text.starts_with(token.text)) continue;
    if (longest == nullptr || token.text.size() > longest->text.size()) longest = &token;
  }
  return longest;
}

std::shared_ptr<Automaton> VocabularyIndex::automaton(const std::shared_ptr<const ByteDfa>& dfa) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Automaton>& known = automata_[dfa.get()];
  std::shared_ptr<Automaton> automaton = known.lock();
  if (automaton != nullptr) return automaton;
  automaton = std::make_shared<Automaton>(dfa, trie_, vocab());
  known = automaton;
  if (automata_.size() > kMaxAutomata) {
    std::erase_if(automata_, [](const auto& entry) { return entry.second.expired(); });
  }
  return automaton;
}

std::shared_ptr<const ByteDfa> VocabularyIndex::text_dfa(const Text& text) {
  std::vector<std::string> key = {text.until};
  key.insert(key.end(), text.excluding.begin(), text.excluding.end());
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const ByteDfa>& dfa = text_dfas_[key];
  if (dfa != nullptr) return dfa;
  std::shared_ptr<const ByteDfa> made =
      std::make_shared<const ByteDfa>(grammar::text_dfa(text.until, text.excluding));
  if (text_dfas_.size() > kMaxTextDfas) text_dfas_.clear();
  text_dfas_[std::move(key)] = made;
  return made;
}

}  // namespace wl::grammar
