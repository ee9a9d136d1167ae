#include "grammar/json_text.h"

#include <string>
#include <string_view>

#include "grammar/encoded_dfa.h"
#include "grammar/regex.h"

namespace wl::grammar {
namespace {

// JSON's own grammar (RFC 8259), as expressions over the characters of the text.
constexpr std::string_view kStringRest =
    "(?:[^\"\\\\\\x00-\\x1f]|\\\\(?:[\"\\\\/bfnrt]"
    "|u(?:[0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    "|[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2})))*\"";
constexpr std::string_view kNumber =
    "-?(?:0|[1-9][0-9]{0,18})(?:\\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?";
constexpr std::string_view kInteger = "0|-?[1-9][0-9]{0,18}";
constexpr std::string_view kSpace = "[ \\t\\n\\r]{0,8}";

ByteDfa dfa_of(std::string_view pattern) {
  const auto dfa = parse_regex(pattern);
  if (!dfa.ok()) throw InternalError("a pattern of JSON's grammar: " + dfa.error().message);
  return encoded_dfa(dfa.value());
}

SharedByteDfa shared_dfa_of(std::string_view pattern) {
  return std::make_shared<const ByteDfa>(dfa_of(pattern));
}

/// Between characters the automaton is in its first state.
ByteDfa counted_string_rest() {
  ByteDfa dfa = dfa_of(kStringRest);
  for (ByteEdge& edge : dfa.states[0].edges) {
    const bool is_quote = dfa.states[static_cast<size_t>(edge.target)].accepts;
    edge.kind = is_quote ? EdgeKind::kEndsUnits : EdgeKind::kStartsUnit;
  }
  return dfa;
}

JsonPunctuation make_punctuation(JsonWhitespace whitespace) {
  if (whitespace == JsonWhitespace::kSpaced) return {literal(", "), literal(": "), nullptr};
  const std::string space(kSpace);
  return {match(shared_dfa_of(space + "," + space)), match(shared_dfa_of(space + ":" + space)),
          match(shared_dfa_of(space))};
}

}  // namespace

// Never destroyed: other threads may compile while the process exits.

const SharedByteDfa& json_string_rest() {
  static const auto& dfa =
      *new SharedByteDfa(std::make_shared<const ByteDfa>(counted_string_rest()));
  return dfa;
}

const SharedByteDfa& json_number() {
  static const auto& dfa = *new SharedByteDfa(shared_dfa_of(kNumber));
  return dfa;
}

const SharedByteDfa& json_integer() {
  static const auto& dfa = *new SharedByteDfa(shared_dfa_of(kInteger));
  return dfa;
}

const SharedByteDfa& json_boolean() {
  static const auto& dfa = *new SharedByteDfa(shared_dfa_of("true|false"));
  return dfa;
}

const SharedByteDfa& json_scalar() {
  static const auto& dfa = *new SharedByteDfa(shared_dfa_of(
      "\"" + std::string(kStringRest) + "|" + std::string(kNumber) + "|true|false|null"));
  return dfa;
}

const JsonPunctuation& json_punctuation(JsonWhitespace whitespace) {
  static const auto& spaced = *new JsonPunctuation(make_punctuation(JsonWhitespace::kSpaced));
  static const auto& any = *new JsonPunctuation(make_punctuation(JsonWhitespace::kAny));
  return whitespace == JsonWhitespace::kSpaced ? spaced : any;
}

}  // namespace wl::grammar
