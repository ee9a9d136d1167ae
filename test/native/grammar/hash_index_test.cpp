// Lists whose items are found by hash.

#include "grammar/hash_index.h"

#include <algorithm>
#include <random>
#include <vector>

#include "check.h"

namespace wl::test {
namespace {

/// Adds random items, whose hashes collide often, and asks for each value before and after.
void check_index(size_t num_items) {
  std::mt19937 random(static_cast<uint32_t>(num_items));
  std::vector<uint32_t> items;
  grammar::HashIndex index;
  const auto hash = [](uint32_t value) { return uint64_t{value % 7}; };
  const auto contains = [&](uint32_t value) {
    return index.contains(hash(value), [&](size_t i) { return items[i] == value; });
  };
  for (int round = 0; round < 2; ++round) {
    while (items.size() < num_items) {
      const uint32_t value = random() % 200;
      WL_CHECK_EQ(contains(value), std::ranges::count(items, value) > 0);
      if (contains(value)) continue;
      items.push_back(value);
      index.add(hash(value));
    }
    for (uint32_t value = 0; value < 200; ++value) {
      WL_CHECK_EQ(contains(value), std::ranges::count(items, value) > 0);
    }
    items.clear();
    index.clear();
  }
}

WL_TEST(
    "hash index: a list that is short, grows long or was cleared finds its items and no others") {
  for (const size_t num_items : {0u, 1u, 16u, 17u, 33u, 150u}) check_index(num_items);
}

}  // namespace
}  // namespace wl::test
