#include "grammar/member_chain.h"

#include <algorithm>
#include <utility>

namespace wl::grammar {
namespace {

constexpr size_t kMaxStates = 100'000;  // members times counts
constexpr size_t kMaxNesting = 32;      // expressions in each other before a rule cuts them

/// Built from the last member to the first, as two kinds of states for each member and each number
/// of members written before: `after_` is what may follow a written member, the end or a comma and
/// more; `next_` is a member that must be written now, this one or, if it may be left out, a later
/// one. Null: impossible.
class Builder {
 public:
  Builder(const MemberChain& chain, const ExprPtr& comma, Grammar* grammar)
      : chain_(chain), comma_(comma), grammar_(*grammar) {
    const size_t num_members = chain.members.size();
    required_before_.resize(num_members + 1);
    for (size_t i = 0; i < num_members; ++i) {
      required_before_[i + 1] = required_before_[i] + (chain.members[i].is_required ? 1 : 0);
    }
    const bool is_max_met_anyway = chain.extra == nullptr && chain.count.max >= num_members;
    max_ = is_max_met_anyway ? UnitBounds::kUnbounded : chain.count.max;
    min_ = chain.count.min <= required_before_.back() ? 0 : chain.count.min;
    // Counts stop at what any bound can tell apart; 1, as the first member has no comma.
    cap_ = std::max<uint32_t>(1, max_ == UnitBounds::kUnbounded ? min_ : max_);
  }

  Result<ExprPtr> run() {
    const size_t num_members = chain_.members.size();
    const uint32_t num_required = required_before_[num_members];
    if (chain_.extra != nullptr && min_ > num_required + 1) {
      return {ErrorCode::kGrammar, "minProperties of more than one free member is not supported"};
    }
    // More than there are members cannot be reached.
    if (chain_.extra == nullptr && min_ > num_members) return choice({});
    cap_ = static_cast<uint32_t>(std::min<size_t>(cap_, num_members + 2));
    if ((num_members + 1) * cap_ > kMaxStates) {
      return {ErrorCode::kGrammar, "minProperties or maxProperties with too many properties"};
    }
    start_from_end();
    for (size_t i = num_members; i-- > 0;) step_to(i);
    std::vector<ExprPtr> options;
    if (num_required == 0 && min_ == 0) options.push_back(sequence({}));
    if (next_[0] != nullptr) options.push_back(next_[0]);
    return one_of(std::move(options));
  }

 private:
  uint32_t room_after(uint32_t count) const {
    return max_ == UnitBounds::kUnbounded ? max_ : max_ - count;
  }
  bool is_full(uint32_t count) const { return count >= max_; }
  bool may_end(size_t member, uint32_t count) const {
    return required_before_[member] == required_before_.back() && count >= min_;
  }
  bool is_reachable(size_t member, uint32_t count) const {
    return count <= std::min<size_t>(member, cap_) &&
           count >= std::min(required_before_[member], cap_);
  }

  static ExprPtr one_of(std::vector<ExprPtr> options) {
    std::vector<ExprPtr> flat;
    for (const ExprPtr& option : options) {
      if (const auto* inner = std::get_if<Choice>(&option->node)) {
        flat.insert(flat.end(), inner->options.begin(), inner->options.end());
      } else {
        flat.push_back(option);
      }
    }
    return flat.size() == 1 ? flat[0] : choice(std::move(flat));
  }

  ExprPtr as_rule(ExprPtr expr) {
    grammar_.rules.push_back(std::move(expr));
    return reference(static_cast<int32_t>(grammar_.rules.size()) - 1);
  }

  /// Behind the declared members: free ones.
  void start_from_end() {
    const size_t end = chain_.members.size();
    after_.assign(cap_ + 1, nullptr);
    next_.assign(cap_ + 1, nullptr);
    const ExprPtr more = chain_.extra == nullptr ? nullptr : concatenation({comma_, chain_.extra});
    for (uint32_t count = 0; count <= cap_; ++count) {
      const uint32_t missing = min_ - std::min(min_, count);
      if (more == nullptr) {
        if (may_end(end, count)) after_[count] = sequence({});
        continue;
      }
      after_[count] = is_full(count) ? sequence({}) : repeat(more, missing, room_after(count));
      if (is_full(count)) continue;
      const uint32_t missing_then = missing - std::min(missing, 1u);
      next_[count] =
          concatenation({chain_.extra, repeat(more, missing_then, room_after(count + 1))});
    }
  }

  /// From the states of the members behind to those of this one.
  void step_to(size_t member) {
    std::vector<ExprPtr> after(cap_ + 1), next(cap_ + 1);
    for (uint32_t count = 0; count <= cap_; ++count) {
      if (!is_reachable(member, count)) continue;
      next[count] = next_of(member, count);
      if (count > 0) after[count] = after_of(member, count, next[count]);
    }
    after_ = std::move(after);
    next_ = std::move(next);
  }

  ExprPtr next_of(size_t member, uint32_t count) {
    const ChainMember& here = chain_.members[member];
    std::vector<ExprPtr> options;
    const ExprPtr& rest = after_[std::min(count + 1, cap_)];
    if (!is_full(count) && rest != nullptr) options.push_back(concatenation({here.text, rest}));
    if (!here.is_required && next_[count] != nullptr) options.push_back(next_[count]);
    if (options.empty()) return nullptr;
    ExprPtr expr = one_of(std::move(options));
    // What stands behind a comma here, and where the member in front is left out.
    const bool is_shared = count > 0 && member >= 2 && !chain_.members[member - 1].is_required;
    return is_shared || member % kMaxNesting == 0 ? as_rule(std::move(expr)) : expr;
  }

  ExprPtr after_of(size_t member, uint32_t count, const ExprPtr& next) {
    std::vector<ExprPtr> options;
    if (may_end(member, count)) options.push_back(sequence({}));
    if (next != nullptr) options.push_back(concatenation({comma_, next}));
    if (options.empty()) return nullptr;
    ExprPtr expr = one_of(std::move(options));
    // The member in front may have been the first one or not.
    const bool is_shared = cap_ > 1 || (member >= 2 && required_before_[member - 1] == 0);
    return is_shared ? as_rule(std::move(expr)) : expr;
  }

  const MemberChain& chain_;
  const ExprPtr& comma_;
  Grammar& grammar_;
  std::vector<uint32_t> required_before_;  // of each member, and of the end
  uint32_t min_ = 0, max_ = 0;             // of the number of members, as far as they matter
  uint32_t cap_ = 0;                       // counts beyond are one
  std::vector<ExprPtr> after_, next_;      // by count, of the member that was built last
};

}  // namespace

Result<ExprPtr> member_chain_expr(const MemberChain& chain, const ExprPtr& comma,
                                  Grammar* grammar) {
  return Builder(chain, comma, grammar).run();
}

}  // namespace wl::grammar
