#include "tokenizer/pattern.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace wl::tokenizer {

namespace {

constexpr size_t kMaxBytes = 4096;   // of an expression; bounds the work at one place
constexpr size_t kMaxBranches = 64;  // bits of a candidate mask
constexpr size_t kLongRun = 32;      // bytes; shorter ones are cheap to look at again

/// Matches one branch at one place: greedy, giving characters back while what follows does not fit.
class BranchMatcher {
 public:
  BranchMatcher(const Branch& branch, std::string_view text, DeadRuns* dead)
      : branch_(branch), text_(text), dead_(*dead) {}

  std::optional<size_t> match(size_t pos, size_t atom_idx = 0) const {
    if (atom_idx == branch_.atoms.size()) return match_tail(pos);
    const Atom& atom = branch_.atoms[atom_idx];
    const DeadRuns::Run* dead = dead_.find(atom);
    if (dead != nullptr && dead->first <= pos && pos < dead->end) return std::nullopt;
    const size_t limit = dead != nullptr && pos < dead->first ? dead->first : text_.size();
    uint32_t count = 0;
    size_t end = pos;
    for (; count < atom.max && end < limit; ++count) {
      const auto byte = static_cast<unsigned char>(text_[end]);
      if (byte < 0x80) {
        if (!atom.chars.matches_ascii(byte)) break;
        ++end;
      } else {
        const Utf8Char c = char_at(text_, end);
        if (!atom.chars.matches(c.code_point)) break;
        end += c.num_bytes;
      }
    }
    const size_t run_end = dead != nullptr && end == dead->first ? dead->end : end;
    size_t failed_end = run_end;
    for (; count >= atom.min; --count) {
      if (const auto matched = match(end, atom_idx + 1)) {
        note_dead(atom, failed_end, run_end);
        return matched;
      }
      failed_end = end;
      if (count == 0) break;
      end = char_before(text_, end);
    }
    note_dead(atom, pos, run_end);
    return std::nullopt;
  }

 private:
  std::optional<size_t> match_tail(size_t pos) const {
    for (const Word& word : branch_.words) {
      if (const auto end = match_word(word, pos)) return end;
    }
    if (branch_.needs_word) return std::nullopt;
    if (branch_.space_ahead && pos < text_.size() &&
        category_of(char_at(text_, pos).code_point) != CharCategory::kSpace) {
      return std::nullopt;
    }
    return pos;
  }

  /// Nothing fits at any end of the atom in [first, run_end].
  void note_dead(const Atom& atom, size_t first, size_t run_end) const {
    if (atom.is_run() && first + kLongRun <= run_end) dead_.add({&atom, first, run_end});
  }

  std::optional<size_t> match_word(const Word& word, size_t pos) const {
    for (const CharClass& chars : word) {
      if (pos >= text_.size()) return std::nullopt;
      const Utf8Char c = char_at(text_, pos);
      if (!chars.matches(c.code_point)) return std::nullopt;
      pos += c.num_bytes;
    }
    return pos;
  }

  const Branch& branch_;
  const std::string_view text_;
  DeadRuns& dead_;
};

bool may_start(const CharClass& chars, unsigned char byte) {
  return byte >= 0x80 || chars.matches_ascii(byte);
}

bool may_start(const Branch& branch, unsigned char byte) {
  for (const Atom& atom : branch.atoms) {
    if (may_start(atom.chars, byte)) return true;
    if (atom.min > 0) return false;
  }
  for (const Word& word : branch.words) {
    if (may_start(word.front(), byte)) return true;
  }
  return false;
}

bool may_be_empty(const Branch& branch) {
  for (const Atom& atom : branch.atoms) {
    if (atom.min > 0) return false;
  }
  return !branch.needs_word;
}

}  // namespace

const DeadRuns::Run* DeadRuns::find(const Atom& atom) const {
  const auto found = std::ranges::find(runs_, &atom, &Run::atom);
  return found != runs_.end() ? &*found : nullptr;
}

void DeadRuns::add(const Run& run) {
  std::erase_if(runs_, [&](const Run& older) { return older.atom == run.atom; });
  runs_.push_back(run);
}

Pattern::Pattern(std::vector<Branch> branches) : branches_(std::move(branches)) {
  for (size_t byte = 0; byte < candidates_.size(); ++byte) {
    for (size_t i = 0; i < branches_.size(); ++i) {
      if (may_start(branches_[i], static_cast<unsigned char>(byte))) {
        candidates_[byte] |= uint64_t{1} << i;
      }
    }
  }
}

Result<Pattern> Pattern::compile(std::string_view expression) {
  const auto refuse = [&](const char* why) {
    return Error{ErrorCode::kTokenizerType,
                 "pre-tokenizer pattern " + quote_bytes(std::string(expression), 200) + " " + why};
  };
  if (expression.size() > kMaxBytes) return refuse("is too long");
  auto branches = parse_pattern(expression);
  if (!branches.ok()) return branches.error();
  if (branches.value().size() > kMaxBranches) return refuse("has too many alternatives");
  for (const Branch& branch : branches.value()) {
    if (may_be_empty(branch)) return refuse("matches the empty text");
  }
  return Pattern(std::move(branches).value());
}

size_t Pattern::match_end(std::string_view text, size_t pos, DeadRuns* dead) const {
  uint64_t left = candidates_[static_cast<unsigned char>(text[pos])];
  for (; left != 0; left &= left - 1) {
    const Branch& branch = branches_[static_cast<size_t>(std::countr_zero(left))];
    if (const auto end = BranchMatcher(branch, text, dead).match(pos)) return *end;
  }
  return pos;
}

}  // namespace wl::tokenizer
