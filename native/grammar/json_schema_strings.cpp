#include "grammar/json_schema_strings.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/utf8.h"
#include "grammar/encoded_dfa.h"
#include "grammar/json_text.h"

namespace wl::grammar {
namespace {

constexpr size_t kMaxCountedStates = 4096;  // of a product with lengths, where there is another way
constexpr size_t kMaxFirstLength = 256;     // how far to look for the length from which all are in

ExprPtr quoted(CharDfa dfa) {
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

/// Marks all states that can be reached from the marked ones.
void mark_reachable(const CharDfa& dfa, std::vector<bool>* marked) {
  std::vector<size_t> queue;
  for (size_t s = 0; s < marked->size(); ++s) {
    if ((*marked)[s]) queue.push_back(s);
  }
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const CharEdge& edge : dfa.states[queue[i]].edges) {
      const auto target = static_cast<size_t>(edge.target);
      if ((*marked)[target]) continue;
      (*marked)[target] = true;
      queue.push_back(target);
    }
  }
}

/// The least number of characters from which on a string that can go on is always accepted and can
/// always go on.
std::optional<uint32_t> first_free_length(const CharDfa& dfa) {
  std::vector<bool> at_length(dfa.states.size());
  at_length[0] = true;
  for (uint32_t length = 0; length <= kMaxFirstLength; ++length) {
    std::vector<bool> from_here = at_length;
    mark_reachable(dfa, &from_here);
    bool is_free = true, next_any = false;
    std::vector<bool> next(dfa.states.size());
    for (size_t s = 0; s < dfa.states.size(); ++s) {
      const CharState& state = dfa.states[s];
      if (from_here[s] && (!state.accepts || state.edges.empty())) is_free = false;
      if (!at_length[s]) continue;
      for (const CharEdge& edge : state.edges) {
        next[static_cast<size_t>(edge.target)] = true;
        next_any = true;
      }
    }
    if (!next_any) return std::nullopt;
    if (is_free) return length;
    at_length = std::move(next);
  }
  return std::nullopt;
}

/// Long bounds as a count at run time: where strings are free from some length on, those shorter
/// than that are one automaton, and all others are counted. nullopt: not of this shape.
Result<std::optional<ExprPtr>> counted(const CharDfa& dfa, UnitBounds length) {
  const auto free_from = first_free_length(dfa);
  if (!free_from || *free_from > length.max) return std::optional<ExprPtr>();
  std::vector<ExprPtr> options;
  if (length.min < *free_from) {
    auto shorter = with_length(dfa, {length.min, *free_from - 1});
    if (!shorter.ok()) return shorter.error();
    if (!shorter.value().is_empty()) options.push_back(quoted(std::move(shorter).value()));
  }
  CharDfa open = dfa;
  for (CharState& state : open.states) state.accepts = true;
  auto rest = std::make_shared<const ByteDfa>(json_string_rest_dfa(open, CountUnits::kYes));
  options.push_back(concatenation(
      {literal("\""), match(std::move(rest), {std::max(length.min, *free_from), length.max})}));
  return std::optional(options.size() == 1 ? options[0] : choice(std::move(options)));
}

uint32_t last_counted(UnitBounds length) {
  return length.max == UnitBounds::kUnbounded ? length.min : length.max;
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
  const bool is_bounded = shape.length != UnitBounds{};
  if (shape.patterns.empty() && shape.formats.size() == 1 && !is_bounded) {
    return concatenation({literal("\""), match(shape.formats[0]->json_rest)});
  }
  auto strings = without_lengths(shape);
  if (!strings.ok()) return strings.error();
  if (is_any_string(strings.value())) {
    return concatenation({literal("\""), match(json_string_rest(), shape.length)});
  }
  if (!is_bounded) return quoted(std::move(strings).value());
  if (last_counted(shape.length) * strings.value().states.size() > kMaxCountedStates) {
    auto at_run_time = counted(strings.value(), shape.length);
    if (!at_run_time.ok()) return length_error(at_run_time.error());
    if (at_run_time.value()) return *at_run_time.value();
  }
  auto bounded = with_length(strings.value(), shape.length);
  if (!bounded.ok()) return length_error(bounded.error());
  return quoted(std::move(bounded).value());
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
