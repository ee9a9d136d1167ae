#include "kv/block_hash.h"

#include <numeric>
#include <vector>

#include "check.h"

using namespace wl::kv;

static std::string hex(const BlockHash& hash) {
  std::string out;
  for (const uint8_t byte : hash) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

static std::vector<int32_t> range(int32_t from, int32_t to) {
  std::vector<int32_t> tokens(static_cast<size_t>(to - from));
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

WL_TEST("block hash: the vectors of the engine specification") {
  const BlockHash root = root_hash("test-model");
  WL_CHECK_EQ(hex(root), "c66acd9beaf6dc74437084219feb8e48c80145f2e411219171b84519bfeeebf2");
  const BlockHash b0 = block_hash(root, range(0, 16));
  WL_CHECK_EQ(hex(b0), "08202b89e881612353e191b6d0c082f3375a8f2c202a957f374c7e8b5c85e1f6");
  WL_CHECK_EQ(block_event_id(b0), uint64_t{2549461699802112008});
  WL_CHECK_EQ(hex(block_hash(b0, range(16, 32))),
              "1679bf4e9fcbdef0dd21ece6c678da0d1748e5ea62a3928115116f0ee8ec1b5b");
}

WL_TEST("block hash: the tenant salt of block 0 reaches every later block through the chain") {
  const std::vector<std::string> salt = {"salt:tenant-a"};
  const BlockHash b0 = block_hash(root_hash("test-model"), range(0, 16), salt);
  WL_CHECK_EQ(hex(b0), "0adbc78fc072b88493ca0006870f63b23c30b3bfb8ff3721d1699c2d57baf1e6");
  WL_CHECK_EQ(hex(block_hash(b0, range(16, 32))),
              "37f4a4689ec4643015cf8e644b5202b32ac061327077a07c3f39b1cfa30bc7ad");
}
