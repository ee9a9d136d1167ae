#include "grammar/json_schema_strings.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/utf8.h"
#include "grammar/encoded_dfa.h"
#include "grammar/json_text.h"

namespace wl::grammar {
namespace {

ExprPtr quoted(const CharDfa& dfa) {
  if (dfa.is_empty()) return choice({});
  return concatenation(
      {literal("\""), match(std::make_shared<const ByteDfa>(json_string_rest_dfa(dfa)))});
}

bool is_any_string(const CharDfa& dfa) {
  return dfa.states.size() == 1 && dfa.states[0].edges == any_string().states[0].edges;
}

/// All that patterns and formats ask.
Result<CharDfa> without_lengths(const StringShape& shape) {
  CharDfa strings = any_string();
  const auto restrict_to = [&](const CharDfa& other) -> Status {
    if (is_any_string(strings)) {
      strings = other;
      return {};
    }
    auto both = intersection(strings, other);
    if (!both.ok()) return {ErrorCode::kGrammar, "pattern " + both.error().message};
    strings = std::move(both).value();
    return {};
  };
  for (const SchemaPattern& pattern : shape.patterns) {
    WL_RETURN_IF_ERROR(restrict_to(*pattern.strings));
  }
  for (const StringFormat* format : shape.formats) {
    WL_RETURN_IF_ERROR(restrict_to(format->strings));
  }
  return strings;
}

/// Characters of the shortest string.
uint32_t shortest_length(const CharDfa& dfa) {
  std::vector<bool> seen(dfa.states.size());
  std::vector<size_t> level = {0}, next;
  for (uint32_t length = 0; !level.empty(); ++length, level = std::exchange(next, {})) {
    for (const size_t state : level) {
      if (dfa.states[state].accepts) return length;
      for (const CharEdge& edge : dfa.states[state].edges) {
        const auto target = static_cast<size_t>(edge.target);
        if (!seen[target]) next.push_back(target);
        seen[target] = true;
      }
    }
  }
  return UnitBounds::kUnbounded;
}

Error length_error(const Error& error) {
  return {ErrorCode::kGrammar, "pattern or format with minLength or maxLength " + error.message};
}

}  // namespace

Result<CharDfa> schema_strings(const StringShape& shape) {
  auto strings = without_lengths(shape);
  if (!strings.ok()) return strings;
  auto bounded = with_length(strings.value(), shape.length);
  if (!bounded.ok()) return length_error(bounded.error());
  return bounded;
}

Result<ExprPtr> schema_string_expr(const StringShape& shape) {
  if (shape.length.min > shape.length.max) return choice({});
  if (shape.patterns.empty() && shape.formats.size() == 1 && shape.length == UnitBounds{}) {
    return concatenation({literal("\""), match(shape.formats[0]->json_rest)});
  }
  auto strings = without_lengths(shape);
  if (!strings.ok()) return strings.error();
  if (is_any_string(strings.value())) {
    return concatenation({literal("\""), match(json_string_rest(), shape.length)});
  }
  // A maximum is counted at run time; a minimum is part of the automaton.
  auto long_enough = with_length(strings.value(), {shape.length.min, UnitBounds::kUnbounded});
  if (!long_enough.ok()) return length_error(long_enough.error());
  const CharDfa& dfa = long_enough.value();
  if (shape.length.max == UnitBounds::kUnbounded) return quoted(dfa);
  if (dfa.is_empty() || shortest_length(dfa) > shape.length.max) return choice({});
  auto rest = std::make_shared<const ByteDfa>(json_string_rest_dfa(dfa, CountUnits::kYes));
  return concatenation({literal("\""), match(std::move(rest), {0, shape.length.max})});
}

CharDfa strings_dfa(const std::vector<std::string>& texts) {
  CharDfa trie;
  trie.states.emplace_back();
  for (const std::string& text : std::set<std::string>(texts.begin(), texts.end())) {
    size_t state = 0;
    for (size_t pos = 0; pos < text.size();) {
      const Utf8Char c = char_at(text, pos);
      pos += c.num_bytes;
      // In the order of UTF-8, which is that of code points, only the last edge can be the same.
      std::vector<CharEdge>& edges = trie.states[state].edges;
      if (edges.empty() || edges.back().first != c.code_point) {
        edges.push_back({c.code_point, c.code_point, static_cast<int32_t>(trie.states.size())});
        trie.states.emplace_back();
        state = trie.states.size() - 1;
      } else {
        state = static_cast<size_t>(edges.back().target);
      }
    }
    trie.states[state].accepts = true;
  }
  return trie;
}

ExprPtr other_string_expr(const std::vector<std::string>& taken) {
  const ExprPtr quote = literal("\"");
  if (taken.empty()) return concatenation({quote, match(json_string_rest())});
  // What leaves all taken strings at some character goes on as any string does, so that its tokens
  // are looked up once for all grammars; the rest is what ends before.
  CharDfa leaving = strings_dfa(taken);
  std::set<std::string> shorter;
  for (const std::string& text : taken) {
    for (size_t pos = 0; pos < text.size(); pos += char_at(text, pos).num_bytes) {
      shorter.insert(text.substr(0, pos));
    }
  }
  for (const std::string& text : taken) shorter.erase(text);
  const auto left = static_cast<int32_t>(leaving.states.size());
  for (CharState& state : leaving.states) {
    std::vector<CharRange> used;
    for (const CharEdge& edge : state.edges) used.push_back({edge.first, edge.last});
    for (const CharRange& range : complement(make_char_set(std::move(used)))) {
      state.edges.push_back({range.first, range.last, left});
    }
    std::sort(state.edges.begin(), state.edges.end(),
              [](const CharEdge& a, const CharEdge& b) { return a.first < b.first; });
    state.accepts = false;
  }
  leaving.states.push_back({{}, true});
  std::vector<ExprPtr> options = {
      concatenation({match(std::make_shared<const ByteDfa>(json_chars_dfa(minimized(leaving)))),
                     match(json_string_rest())})};
  if (!shorter.empty()) {
    std::vector<std::string> rests;
    for (const std::string& text : shorter) rests.push_back(json_quoted(text).substr(1));
    options.push_back(match(std::make_shared<const ByteDfa>(literals_dfa(std::move(rests)))));
  }
  return concatenation({quote, choice(std::move(options))});
}

}  // namespace wl::grammar
