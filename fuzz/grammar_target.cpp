// Grammars that come with a request: a spec, or a regular expression or Lark grammar as they stand.
// One input is the byte that says which, and the text. What is taken must pass the checks that
// compiling makes.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/grammar_checks.h"
#include "grammar/grammar_spec.h"
#include "grammar/lark.h"
#include "grammar/regex.h"

namespace {

using wl::grammar::Grammar;

/// Nothing matches, left recursion and so on are the user's errors; a rule without a text is ours.
void check_grammar(const Grammar& grammar) {
  for (const auto& rule : grammar.rules) {
    if (rule != nullptr) continue;
    std::fprintf(stderr, "a rule has no text\n");
    std::abort();
  }
  (void)wl::grammar::check_rules(grammar).ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // A copy of exactly its size: what reads past the end reads past the allocation.
  const std::vector<char> bytes(data + 1, data + size);
  const std::string_view text(bytes.data(), bytes.size());
  switch (data[0]) {
    case 'r':
      (void)wl::grammar::parse_regex(text, {.scope = wl::grammar::RegexOptions::Scope::kSearch})
          .ok();
      break;
    case 'l': {
      Grammar grammar;
      auto root = wl::grammar::lark_expr(text, &grammar);
      if (!root.ok()) break;
      grammar.rules.push_back(root.value());
      check_grammar(grammar);
      break;
    }
    default:
      const auto grammar = wl::grammar::parse_grammar_spec(text);
      if (grammar.ok()) check_grammar(grammar.value());
  }
  return 0;
}
