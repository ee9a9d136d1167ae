#include "grammar/forced_text.h"

#include <utility>
#include <vector>

namespace wl::grammar {
namespace {

constexpr size_t kMaxForcedBytes = 256;

/// A byte that an element can take next; kNone before the first, kMany with a choice.
class OnlyByte {
 public:
  void add(uint8_t byte) { value_ = value_ == kNone || value_ == byte ? byte : kMany; }
  void add_many() { value_ = kMany; }
  bool is_many() const { return value_ == kMany; }
  std::optional<uint8_t> get() const {
    if (value_ < 0) return std::nullopt;
    return static_cast<uint8_t>(value_);
  }

 private:
  static constexpr int kNone = -1, kMany = -2;
  int value_ = kNone;
};

void add_next_bytes(const Program& program, const Element& element, OnlyByte& out) {
  const Node& node = program.node(element.node);
  if (node.kind == NodeKind::kLiteral) {
    return out.add(static_cast<uint8_t>(program.literal(node)[static_cast<size_t>(element.state)]));
  }
  if (node.kind != NodeKind::kMatch) return out.add_many();
  for (const ByteEdge& edge : program.automaton_state(node, element.state).edges) {
    if (!fits(program, node, element.num_units, edge)) continue;
    if (edge.first != edge.last) return out.add_many();
    out.add(edge.first);
  }
}

std::optional<uint8_t> only_next_byte(const Program& program, const Frontier& frontier) {
  if (frontier.is_complete) return std::nullopt;
  OnlyByte byte;
  for (const Element& element : frontier.elements) {
    add_next_bytes(program, element, byte);
    if (byte.is_many()) return std::nullopt;
  }
  return byte.get();
}

/// The special token that alone may come next.
std::optional<TokenId> only_special_token(const Program& program, const Frontier& frontier) {
  if (frontier.is_complete || frontier.elements.size() != 1) return std::nullopt;
  const Node& node = program.node(frontier.elements[0].node);
  if (node.kind != NodeKind::kToken) return std::nullopt;
  return node.index;
}

/// The tokenizer's tokens of a text that goes on another one.
std::vector<TokenId> continued_tokens(const VocabularyIndex& vocabulary, const std::string& text) {
  const tokenizer::Tokenizer& tokenizer = vocabulary.tokenizer();
  if (!tokenizer.facts().strips_leading_space) {
    return tokenizer.encode(text, {.starts_prompt = false});
  }
  // It puts a space in front of whatever it encodes: a line end of ours keeps that apart.
  constexpr size_t kFrontBytes = 2;
  std::vector<TokenId> tokens = tokenizer.encode("\n" + text, {.starts_prompt = false});
  size_t num_bytes = 0, num_front = 0;
  while (num_bytes < kFrontBytes && num_front < tokens.size()) {
    num_bytes += vocabulary.bytes(tokens[num_front++]).size();
  }
  if (num_bytes != kFrontBytes) return {};
  tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(num_front));
  return tokens;
}

}  // namespace

ForcedText forced_text(const Program& program, const Frontier& frontier) {
  ForcedText forced;
  Frontier at = frontier;
  FrontierBuilder builder(program);
  while (forced.bytes.size() < kMaxForcedBytes) {
    const auto byte = only_next_byte(program, at);
    if (!byte) {
      forced.is_closed = at.elements.empty() || only_special_token(program, at).has_value();
      break;
    }
    forced.bytes.push_back(static_cast<char>(*byte));
    for (const Element& element : at.elements) builder.step(element, *byte);
    at = builder.take();
  }
  return forced;
}

std::optional<TokenId> forced_token(const Program& program, const VocabularyIndex& vocabulary,
                                    const Frontier& frontier) {
  if (const auto token = only_special_token(program, frontier)) return token;
  const ForcedText forced = forced_text(program, frontier);
  if (forced.bytes.empty()) return std::nullopt;
  const std::vector<TokenId> tokens = continued_tokens(vocabulary, forced.bytes);
  if (tokens.empty() || (tokens.size() == 1 && !forced.is_closed)) return std::nullopt;
  const std::string_view first = vocabulary.bytes(tokens[0]);
  // A vocabulary that cannot spell the text encodes something else.
  if (first.empty() || !forced.bytes.starts_with(first)) return std::nullopt;
  return tokens[0];
}

}  // namespace wl::grammar
