#pragma once
// The regular expressions of pre-tokenizers, as far as tokenizers use them: alternatives that are
// runs of character classes (`\s*[\r\n]+`), with at most a group of short words behind them
// (`(?i:'s|'t)?`) and a `(?!\S)`. Compiled once, then matched by loops over classes, in time linear
// in the text whatever the expression. One that is not of this kind does not compile and is refused
// by name.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/char_class.h"

namespace wl::tokenizer {

/// A class, repeated greedily.
struct Atom {
  static constexpr uint32_t kUnbounded = 0xffffffff;

  CharClass chars;
  uint32_t min = 1;
  uint32_t max = 1;

  bool is_run() const { return max == kUnbounded; }
};

using Word = std::vector<CharClass>;  // one class a character

/// One alternative: `atoms` in a row, then a word of `words` (first that fits), then the end, a
/// white space or, without `space_ahead`, anything.
struct Branch {
  std::vector<Atom> atoms;
  std::vector<Word> words;
  bool needs_word = false;
  bool space_ahead = false;  // `(?!\S)`
};

/// What matching has learned about one text: long runs of an atom with nothing that fits behind
/// them, wherever in [first, end) the atom begins. Looking at such a run again from each of its
/// characters would take the square of its length.
class DeadRuns {
 public:
  struct Run {
    const Atom* atom;
    size_t first, end;
  };

  /// The latest of an atom, or null.
  const Run* find(const Atom& atom) const;
  void add(const Run& run);

 private:
  std::vector<Run> runs_;
};

class Pattern {
 public:
  /// Errors: ERR_TOKENIZER_TYPE, with the expression.
  static Result<Pattern> compile(std::string_view expression);

  /// Where the match that begins at `pos` ends, or `pos` when none begins there. The first
  /// alternative that fits wins, as in every backtracking engine. `dead` is of this text.
  size_t match_end(std::string_view text, size_t pos, DeadRuns* dead) const;

 private:
  explicit Pattern(std::vector<Branch> branches);

  std::vector<Branch> branches_;
  /// By first byte: bit i set when branch i may match there. Bytes of one non-ASCII character are
  /// not told apart.
  std::array<uint64_t, 256> candidates_{};
};

/// The alternatives of an expression. Errors: ERR_TOKENIZER_TYPE.
Result<std::vector<Branch>> parse_pattern(std::string_view expression);

}  // namespace wl::tokenizer
