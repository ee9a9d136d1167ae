#include "tokenizer/merge_table.h"

#include "check.h"

using wl::tokenizer::kNoRank;
using wl::tokenizer::MergeTable;
using wl::tokenizer::TokenPair;

WL_TEST(
    "merge table: a pair has the rank of its place in the list, one listed twice that of the "
    "last") {
  const MergeTable merges({{1, 2, 3}, {2, 1, 4}, {1, 2, 5}});
  WL_CHECK_EQ(merges.find(2, 1).rank, 1u);
  WL_CHECK_EQ(merges.find(2, 1).joined, 4);
  WL_CHECK_EQ(merges.find(1, 2).rank, 2u);
  WL_CHECK_EQ(merges.find(1, 2).joined, 5);
  WL_CHECK_EQ(merges.find(1, 1).rank, kNoRank);
  WL_CHECK_EQ(MergeTable().find(0, 0).rank, kNoRank);
}

WL_TEST("merge table: finds every pair of a long list") {
  std::vector<TokenPair> pairs;
  for (int i = 0; i < 100'000; ++i) pairs.push_back({i % 317, i / 317, i});
  const MergeTable merges(pairs);
  size_t num_found = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto merge = merges.find(pairs[i].left, pairs[i].right);
    if (merge.rank == i && merge.joined == pairs[i].joined) ++num_found;
  }
  WL_CHECK_EQ(num_found, pairs.size());
  WL_CHECK_EQ(merges.find(317, 0).rank, kNoRank);
}
