#pragma once
// A vocabulary that fits the toy model, and grammars over it with stretches that are forced, free
// and optional.

#include <memory>
#include <string>
#include <vector>

#include "check.h"
#include "core_driver.h"
#include "grammar/grammar.h"
#include "tokenizer/json_tokenizer.h"

namespace wl::test {

constexpr int32_t kToyEnd = 56, kToyOtherEnd = 57;  // no texts: ends of generation

/// Ids 0 to 45 are characters, then come merges of them, then two ends.
inline std::shared_ptr<const tokenizer::Tokenizer> toy_tokenizer() {
  const std::string characters = "abcdefghijklmnopqrstuvwxyz0123456789{}:,[]-._";
  std::vector<std::string> tokens;
  for (const char character : characters) tokens.emplace_back(1, character);
  tokens.push_back("\\\"");
  std::string merges;
  const auto merge = [&](const std::string& left, const std::string& right) {
    tokens.push_back(left + right);
    merges += (merges.empty() ? "[\"" : ", [\"") + left + "\", \"" + right + "\"]";
  };
  merge("n", "a"), merge("m", "e"), merge("na", "me"), merge("t", "r"), merge("u", "e");
  merge("tr", "ue"), merge("\\\"", ":"), merge("{", "\\\""), merge("a", "b"), merge("1", "2");
  std::string vocab;
  for (size_t id = 0; id < tokens.size(); ++id) {
    vocab += (id == 0 ? "\"" : ", \"") + tokens[id] + "\": " + std::to_string(id);
  }
  const std::string json =
      R"({"version": "1.0", "added_tokens": [)"
      R"({"id": 56, "content": "<end>", "special": true},)"
      R"({"id": 57, "content": "<other end>", "special": true}], "normalizer": null,)"
      R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false},)"
      R"("post_processor": null, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE",)"
      R"("vocab": {)" +
      vocab + R"(}, "merges": [)" + merges + "]}}";
  static const auto tokenizer =
      std::make_shared<const tokenizer::Tokenizer>(tokenizer::tokenizer_from_json(json).value());
  return tokenizer;
}

using ToyGrammar = std::shared_ptr<const grammar::CompiledGrammar>;

inline ToyGrammar compile_toy(grammar::ExprPtr root) {
  static const auto vocabulary = grammar::index_vocabulary(toy_tokenizer());
  return grammar::CompiledGrammar::compile({{std::move(root)}, 0}, vocabulary).value();
}

/// Characters of `set`, between min and max of them.
inline grammar::ExprPtr characters(const std::string& set, uint32_t min, uint32_t max) {
  std::vector<grammar::ExprPtr> options;
  for (const char character : set) options.push_back(grammar::literal(std::string(1, character)));
  return grammar::repeat(grammar::choice(std::move(options)), min, max);
}

/// {"name":"...","kind":true|12|"...","name":[...]}: forced runs of several tokens.
inline ToyGrammar toy_object() {
  using namespace grammar;
  const auto text = sequence({literal("\""), characters("abcnmetru", 1, 6), literal("\"")});
  const auto kind = choice({literal("true"), literal("12"), text});
  const auto item = characters("0123456789", 1, 3);
  const auto items = sequence({item, repeat(sequence({literal(","), item}), 0, 3)});
  return compile_toy(sequence({literal("{\"name\":"), text, literal(",\"kind\":"), kind,
                               literal(",\"name\":["), items, literal("]}")}));
}

/// One text only.
inline ToyGrammar toy_phrase() { return compile_toy(grammar::literal("{\"name\":\"true_name\"}")); }

/// Letters; the text may end after any.
inline ToyGrammar toy_letters() { return compile_toy(characters("abcxyz", 1, 30)); }

inline std::string toy_text(const Tokens& tokens) {
  const tokenizer::TokenBytes& all = toy_tokenizer()->token_bytes();
  std::string text;
  for (const int32_t token : tokens) {
    const auto id = static_cast<size_t>(token);
    if (id < toy_tokenizer()->num_tokens()) {
      text += all.bytes.substr(all.starts[id], all.starts[id + 1] - all.starts[id]);
    }
  }
  return text;
}

}  // namespace wl::test
