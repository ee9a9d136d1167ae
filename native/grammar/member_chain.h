#pragma once
// The members of an object in their order: required ones are there, others may be left out, free
// ones come behind them; a comma between two of them, and bounds on how many there are.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "grammar/byte_dfa.h"
#include "grammar/expr.h"

namespace wl::grammar {

struct ChainMember {
  ExprPtr text;  // key and value
  bool is_required = false;
};

struct MemberChain {
  std::vector<ChainMember> members;
  ExprPtr extra;  // one more member, of which there may be many; null: none
  UnitBounds count;
};

/// All members of an object, also none. Size and time are linear in the members, times the number
/// that is counted to where there are bounds. Rules are added to the grammar. Errors: ERR_GRAMMAR:
/// too large; a minimum that free members, whose keys may repeat, would have to meet.
Result<ExprPtr> member_chain_expr(const MemberChain& chain, const ExprPtr& comma, Grammar* grammar);

}  // namespace wl::grammar
