#include "engine/output_grammar.h"

#include <algorithm>
#include <utility>

namespace wl::engine {

OutputGrammar::OutputGrammar(std::shared_ptr<const grammar::CompiledGrammar> grammar,
                             const std::vector<int32_t>& stop_token_ids, int vocab)
    : matcher_(std::move(grammar)) {
  std::ranges::copy_if(stop_token_ids, std::back_inserter(stop_token_ids_),
                       [vocab](int32_t token) { return token >= 0 && token < vocab; });
}

std::optional<int32_t> OutputGrammar::forced_token() const {
  if (!is_at_end()) return matcher_.forced_token();
  if (stop_token_ids_.empty()) return std::nullopt;
  return stop_token_ids_.front();
}

void OutputGrammar::fill_mask(sampling::TokenMask& mask) const {
  if (is_at_end()) {
    mask.clear();
    if (!stop_token_ids_.empty()) mask.allow(stop_token_ids_.front());
    return;
  }
  matcher_.fill_mask(mask.words());
  if (!matcher_.is_complete()) return;
  for (const int32_t token : stop_token_ids_) mask.allow(token);
}

bool OutputGrammar::is_at_end() const { return matcher_.is_complete() && !matcher_.can_continue(); }

}  // namespace wl::engine
