#include "grammar/grammar.h"

#include <algorithm>
#include <utility>

#include "grammar/forced_text.h"
#include "grammar/frontier.h"
#include "grammar/mask_bits.h"
#include "grammar/mask_walk.h"
#include "grammar/program.h"
#include "grammar/vocabulary_index.h"

namespace wl::grammar {

/// Immutable, so that copies of a matcher share it.
struct MatcherState {
  Frontier frontier;
  std::optional<TokenId> forced;
};

namespace {

/// Whether a token is forced is asked several times for each place.
std::shared_ptr<const MatcherState> state_at(Frontier frontier, const Program& program,
                                             const VocabularyIndex& vocabulary) {
  const auto forced = forced_token(program, vocabulary, frontier);
  return std::make_shared<const MatcherState>(MatcherState{std::move(frontier), forced});
}

}  // namespace

std::shared_ptr<VocabularyIndex> index_vocabulary(
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer) {
  return std::make_shared<VocabularyIndex>(std::move(tokenizer));
}

CompiledGrammar::CompiledGrammar(std::unique_ptr<const Program> program,
                                 std::shared_ptr<VocabularyIndex> vocabulary)
    : program_(std::move(program)), vocabulary_(std::move(vocabulary)) {}

CompiledGrammar::~CompiledGrammar() = default;

Result<std::shared_ptr<const CompiledGrammar>> CompiledGrammar::compile(
    const Grammar& grammar, std::shared_ptr<VocabularyIndex> vocabulary) {
  auto program = Program::compile(grammar, *vocabulary);
  if (!program.ok()) return program.error();
  return std::shared_ptr<const CompiledGrammar>(
      new CompiledGrammar(std::move(program).value(), std::move(vocabulary)));
}

size_t CompiledGrammar::num_tokens() const { return vocabulary_->vocab(); }

Matcher::Matcher(std::shared_ptr<const CompiledGrammar> grammar) : grammar_(std::move(grammar)) {
  FrontierBuilder builder(*grammar_->program_);
  builder.enter(grammar_->program_->entry(), nullptr);
  state_ = state_at(builder.take(), *grammar_->program_, *grammar_->vocabulary_);
}

bool Matcher::accept(TokenId token) {
  const VocabularyIndex& vocabulary = *grammar_->vocabulary_;
  if (token < 0 || static_cast<size_t>(token) >= vocabulary.vocab()) return false;
  FrontierBuilder builder(*grammar_->program_);
  Frontier at = state_->frontier;
  const std::string_view bytes = vocabulary.bytes(token);
  for (size_t i = 0; i < bytes.size() && !at.elements.empty(); ++i) {
    for (const Element& element : at.elements) {
      builder.step(element, static_cast<uint8_t>(bytes[i]));
    }
    if (i + 1 < bytes.size()) at = builder.take();
  }
  for (const Element& element : state_->frontier.elements) {
    const Node& node = grammar_->program_->node(element.node);
    if (node.kind == NodeKind::kToken && node.index == token) builder.leave(element);
  }
  Frontier next = builder.take();
  const bool is_dead = next.elements.empty() && !next.is_complete;
  if (is_dead || next.has_overflowed) return false;
  state_ = state_at(std::move(next), *grammar_->program_, vocabulary);
  return true;
}

bool Matcher::is_complete() const { return state_->frontier.is_complete; }

bool Matcher::can_continue() const { return !state_->frontier.elements.empty(); }

void Matcher::fill_mask(std::span<uint32_t> words) const {
  if (words.size() * 32 < grammar_->vocabulary_->vocab()) {
    throw InternalError("grammar: the mask is smaller than the vocabulary");
  }
  std::ranges::fill(words, 0u);
  if (state_->forced) {
    set_bit(words, *state_->forced);
    return;
  }
  MaskWalk walk(*grammar_->program_, grammar_->vocabulary_->trie(), words);
  if (!walk.add(state_->frontier)) std::ranges::fill(words, 0u);
}

std::optional<TokenId> Matcher::forced_token() const { return state_->forced; }

}  // namespace wl::grammar
