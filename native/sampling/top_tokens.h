#pragma once
// The k tokens that rank first, found in one pass: almost every token fails its first comparison.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wl::sampling {

/// `best` holds the best k of the tokens offered so far, as a heap whose front ranks last.
/// ranks_before(a, b): token a is better; a strict order without ties.
template <class RanksBefore>
void offer_token(std::vector<int32_t>& best, size_t k, int32_t token, RanksBefore ranks_before) {
  if (best.size() == k) {
    if (k == 0 || !ranks_before(token, best.front())) return;
    std::pop_heap(best.begin(), best.end(), ranks_before);
    best.pop_back();
  }
  best.push_back(token);
  std::push_heap(best.begin(), best.end(), ranks_before);
}

}  // namespace wl::sampling
