#pragma once
// A grammar as an expression tree: what front ends (JSON Schema, regex, Lark, the output formats of
// models) make and program.h compiles. Plain data, no vocabulary in it.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "grammar/byte_dfa.h"

namespace wl::grammar {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

/// These bytes, as ordinary text.
struct Literal {
  std::string bytes;
};

/// This text; where it spells special tokens of the vocabulary, those tokens. For the markers of a
/// model's output format, never for text that came from a user.
struct Marker {
  std::string text;
};

/// A text that the automaton accepts.
struct Match {
  std::shared_ptr<const ByteDfa> dfa;
  UnitBounds bounds;
};

/// Free text without the `excluding` markers. With `until` it ends with the first occurrence of
/// that marker, which is part of it; without, it may end anywhere. A marker is the special token of
/// this spelling where the vocabulary has one, and the spelled-out text where that can be output.
struct Text {
  std::string until;  // empty: none
  std::vector<std::string> excluding;
};

struct Sequence {
  std::vector<ExprPtr> parts;  // empty: the empty text
};

struct Choice {
  std::vector<ExprPtr> options;  // empty: nothing matches
};

/// Large bounds cost nothing: a loop counts.
struct Repeat {
  static constexpr uint32_t kUnbounded = UnitBounds::kUnbounded;
  ExprPtr part;
  uint32_t min = 0, max = kUnbounded;
};

/// A rule of the grammar by its index; may be recursive, not left-recursive.
struct Reference {
  int32_t rule = 0;
};

struct Expr {
  std::variant<Literal, Marker, Match, Text, Sequence, Choice, Repeat, Reference> node;
};

struct Grammar {
  std::vector<ExprPtr> rules;  // null: declared and never defined
  int32_t root = 0;
  std::map<int32_t, std::string> rule_names = {};  // what messages call those that a user named
};

ExprPtr literal(std::string bytes);
ExprPtr marker(std::string text);
ExprPtr match(std::shared_ptr<const ByteDfa> dfa, UnitBounds bounds = {});
ExprPtr text(std::string until, std::vector<std::string> excluding);
ExprPtr sequence(std::vector<ExprPtr> parts);
/// One after the other, as a sequence of as few parts as it takes: sequences among them are
/// dissolved, neighbouring literals joined.
ExprPtr concatenation(const std::vector<ExprPtr>& parts);
ExprPtr choice(std::vector<ExprPtr> options);
ExprPtr repeat(ExprPtr part, uint32_t min, uint32_t max);
ExprPtr optional(ExprPtr part);
ExprPtr reference(int32_t rule);

}  // namespace wl::grammar
