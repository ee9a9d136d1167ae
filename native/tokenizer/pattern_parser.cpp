// Reads the expressions that pattern.h describes.

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "tokenizer/pattern.h"

namespace wl::tokenizer {

namespace {

// These bound the work of the matcher at one place; real patterns stay far below.
constexpr uint32_t kMaxCount = 16;  // of {n,m}
constexpr size_t kMaxAtoms = 16;    // of a branch; also its recursion
constexpr int kMaxRuns = 2;         // unbounded atoms of a branch
constexpr uint32_t kMaxWays = 64;   // to give the other atoms of a branch their counts

struct NamedCategory {
  std::string_view name;
  CategorySet categories;
};
constexpr NamedCategory kCategories[] = {
    {"L", kLetters},
    {"Lu", category_bit(CharCategory::kUppercase)},
    {"Ll", category_bit(CharCategory::kLowercase)},
    {"Lt", category_bit(CharCategory::kTitlecase)},
    {"Lm", category_bit(CharCategory::kModifierLetter)},
    {"Lo", category_bit(CharCategory::kOtherLetter)},
    {"M", category_bit(CharCategory::kMark)},
    {"N", category_bit(CharCategory::kNumber)},
    {"P", category_bit(CharCategory::kPunctuation)},
    {"S", category_bit(CharCategory::kSymbol)},
};

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(text) {}

  /// Every `read_` below answers false, with `problem_` set, for what is not supported.
  Result<std::vector<Branch>> parse() {
    std::vector<Branch> branches;
    do {
      if (!read_branch(&branches.emplace_back())) return refusal();
    } while (consume("|"));
    if (pos_ < text_.size()) {
      fail("has an unexpected character");
      return refusal();
    }
    return branches;
  }

 private:
  Error refusal() const {
    return {ErrorCode::kTokenizerType, "pre-tokenizer pattern " +
                                           quote_bytes(std::string(text_), 200) + " " + problem_ +
                                           " at byte " + std::to_string(pos_)};
  }

  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool at_end() const { return pos_ >= text_.size(); }

  bool consume(std::string_view expected) {
    if (text_.substr(pos_, expected.size()) != expected) return false;
    pos_ += expected.size();
    return true;
  }

  bool read_branch(Branch* branch) {
    while (!at_end() && text_[pos_] != '|') {
      if (branch->space_ahead || !branch->words.empty()) return fail("goes on behind a group");
      if (consume("(?!\\S)")) {
        branch->space_ahead = true;
      } else if (text_[pos_] == '(') {
        if (!read_group(branch)) return false;
      } else if (!read_atom(&branch->atoms.emplace_back())) {
        return false;
      }
    }
    return !is_costly(*branch) || fail("has too long an alternative");
  }

  static bool is_costly(const Branch& branch) {
    uint32_t ways = 1;
    for (const Atom& atom : branch.atoms) {
      if (!atom.is_run()) ways = std::min(ways * (atom.max - atom.min + 1), kMaxWays + 1);
    }
    return branch.atoms.size() > kMaxAtoms || ways > kMaxWays ||
           std::ranges::count_if(branch.atoms, &Atom::is_run) > kMaxRuns;
  }

  /// `(?i:a|b)` or `(?:a|b)`, with or without `?`.
  bool read_group(Branch* branch) {
    const bool folds_case = consume("(?i:");
    if (!folds_case && !consume("(?:")) return fail("has a group of an unknown kind");
    do {
      Word& word = branch->words.emplace_back();
      while (!at_end() && text_[pos_] != '|' && text_[pos_] != ')') {
        CharClass& chars = word.emplace_back();
        if (!read_class(&chars)) return false;
        if (folds_case) chars.fold_ascii_case();
        chars.freeze();
      }
      if (word.empty()) return fail("has an empty alternative in a group");
    } while (consume("|"));
    if (!consume(")")) return fail("has a group that does not end");
    branch->needs_word = !consume("?");
    return true;
  }

  bool read_atom(Atom* atom) {
    if (!read_class(&atom->chars)) return false;
    atom->chars.freeze();
    if (consume("?")) {
      atom->min = 0;
    } else if (consume("*")) {
      atom->min = 0;
      atom->max = Atom::kUnbounded;
    } else if (consume("+")) {
      atom->max = Atom::kUnbounded;
    } else if (consume("{")) {
      return read_counts(atom);
    }
    return true;
  }

  bool read_counts(Atom* atom) {
    if (!read_count(&atom->min)) return false;
    atom->max = atom->min;
    if (consume(",") && !read_count(&atom->max)) return false;
    if (!consume("}") || atom->max < atom->min || atom->max == 0) return fail("has a bad count");
    return true;
  }

  bool read_count(uint32_t* count) {
    const char* first = text_.data() + pos_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), *count);
    if (error != std::errc() || *count > kMaxCount) return fail("has a bad count");
    pos_ += static_cast<size_t>(end - first);
    return true;
  }

  /// One character, an escape or a bracket.
  bool read_class(CharClass* chars) {
    if (consume("[")) return read_bracket(chars);
    if (std::string_view(".()?*+{}^$]").find(text_[pos_]) != std::string_view::npos) {
      return fail("has an unexpected character");
    }
    std::optional<uint32_t> c;
    if (!read_item(chars, &c)) return false;
    if (c) chars->add_range(*c, *c);
    return true;
  }

  bool read_bracket(CharClass* chars) {
    const bool is_negated = consume("^");
    bool is_empty = true;
    while (!consume("]")) {
      if (at_end()) return fail("has a bracket that does not end");
      if (!read_bracket_item(chars)) return false;
      is_empty = false;
    }
    if (is_empty) return fail("has an empty bracket");
    if (is_negated) chars->negate();
    return true;
  }

  bool read_bracket_item(CharClass* chars) {
    // Engines read these as sets inside sets and as intersections.
    if (text_[pos_] == '[' || text_.substr(pos_, 2) == "&&") return fail("has a set operation");
    std::optional<uint32_t> first;
    if (!read_item(chars, &first)) return false;
    if (!first) return true;  // a category
    std::optional<uint32_t> last = first;
    if (text_.substr(pos_, 1) == "-" && text_.substr(pos_ + 1, 1) != "]") {
      ++pos_;
      if (at_end() || text_[pos_] == '[' || !read_item(chars, &last))
        return fail("has a bad range");
      if (!last || *last < *first) return fail("has a bad range");
    }
    chars->add_range(*first, *last);
    return true;
  }

  /// A character into `single`, or a category into `chars`.
  bool read_item(CharClass* chars, std::optional<uint32_t>* single) {
    if (!consume("\\")) {
      const Utf8Char c = char_at(text_, pos_);
      if (c.code_point == kNoCharacter) return fail("is no UTF-8");
      pos_ += c.num_bytes;
      *single = c.code_point;
      return true;
    }
    if (at_end()) return fail("ends in an escape");
    const char kind = text_[pos_++];
    switch (kind) {
      case 'r':
        *single = '\r';
        return true;
      case 'n':
        *single = '\n';
        return true;
      case 't':
        *single = '\t';
        return true;
      case 's':
        chars->add_categories(category_bit(CharCategory::kSpace));
        return true;
      case 'p':
        return read_category(chars);
      default:
        break;
    }
    const bool is_word_character =
        std::isalnum(static_cast<unsigned char>(kind)) != 0 || (kind & 0x80) != 0;
    if (is_word_character) return fail("has an unknown escape");
    *single = static_cast<unsigned char>(kind);
    return true;
  }

  bool read_category(CharClass* chars) {
    for (const auto& [name, categories] : kCategories) {
      if (!consume("{" + std::string(name) + "}")) continue;
      chars->add_categories(categories);
      return true;
    }
    return fail("has an unknown category");
  }

  std::string_view text_;
  size_t pos_ = 0;
  std::string problem_;
};

}  // namespace

Result<std::vector<Branch>> parse_pattern(std::string_view expression) {
  return PatternParser(expression).parse();
}

}  // namespace wl::tokenizer
