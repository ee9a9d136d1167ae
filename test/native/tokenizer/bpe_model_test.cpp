#include "tokenizer/bpe_model.h"

#include <algorithm>
#include <random>

#include "check.h"

using wl::tokenizer::BpeModel;
using wl::tokenizer::BpeScratch;
using wl::tokenizer::TokenId;

namespace {

struct TestMerge {
  std::string left, right;
};

/// Bytes a to d, the tokens that the merges make, and a token of each other byte.
BpeModel make_model(const std::vector<TestMerge>& merges) {
  BpeModel model;
  for (int byte = 0; byte < 256; ++byte) {
    model.vocabulary.add(std::string(1, static_cast<char>(byte)), byte);
    model.byte_tokens[static_cast<size_t>(byte)] = byte;
  }
  TokenId next = 256;
  std::vector<wl::tokenizer::TokenPair> pairs;
  for (const auto& [left, right] : merges) {
    if (model.vocabulary.add(left + right, next)) ++next;
    pairs.push_back({*model.vocabulary.find(left), *model.vocabulary.find(right),
                     *model.vocabulary.find(left + right)});
  }
  model.merges = wl::tokenizer::MergeTable(pairs);
  return model;
}

std::vector<TokenId> encode(const BpeModel& model, const std::string& piece) {
  std::vector<TokenId> ids;
  BpeScratch().encode(model, piece, &ids);
  return ids;
}

/// The definition, word for word: the leftmost pair of the lowest rank joins, until none is left.
std::vector<TokenId> encode_slowly(const BpeModel& model, const std::string& piece) {
  std::vector<TokenId> ids;
  for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
  while (true) {
    size_t best = ids.size();
    wl::tokenizer::Merge best_merge;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto merge = model.merges.find(ids[i], ids[i + 1]);
      if (merge.rank < best_merge.rank) {
        best = i;
        best_merge = merge;
      }
    }
    if (best == ids.size()) return ids;
    ids[best] = best_merge.joined;
    ids.erase(ids.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

std::vector<TestMerge> random_merges(std::mt19937& random) {
  std::vector<std::string> tokens = {"a", "b", "c", "d"};
  std::vector<TestMerge> merges;
  for (int i = 0; i < 40; ++i) {
    const std::string left = tokens[random() % tokens.size()];
    const std::string right = tokens[random() % tokens.size()];
    merges.push_back({left, right});
    tokens.push_back(left + right);
  }
  return merges;
}

}  // namespace

WL_TEST("bpe: short and long pieces join as the definition says (random vocabularies)") {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    const BpeModel model = make_model(random_merges(random));
    for (const size_t length : {1u, 2u, 3u, 20u, 32u, 33u, 34u, 200u}) {
      std::string piece;
      while (piece.size() < length) piece += static_cast<char>('a' + random() % 4);
      WL_CHECK(encode(model, piece) == encode_slowly(model, piece));
    }
  }
}

WL_TEST("bpe: the second encoding of a piece comes from the cache and is the same") {
  const BpeModel model = make_model({{"a", "b"}, {"ab", "ab"}});
  BpeScratch scratch;
  std::vector<TokenId> ids;
  scratch.encode(model, "ababa", &ids);
  scratch.encode(model, "ababa", &ids);
  WL_CHECK(ids == (std::vector<TokenId>{257, 'a', 257, 'a'}));
}

WL_TEST("bpe: a long run of one character takes one heap, not a scan a merge") {
  std::vector<TestMerge> merges;
  std::string run = "a";
  for (int i = 0; i < 6; ++i, run += run) merges.push_back({run, run});
  const BpeModel model = make_model(merges);
  // Quadratic work on this piece would run for minutes.
  const std::vector<TokenId> ids = encode(model, std::string(1 << 20, 'a'));
  WL_CHECK_EQ(ids.size(), size_t{1 << 14});
  WL_CHECK(std::ranges::all_of(ids, [&](TokenId id) { return id == ids[0]; }));
}

WL_TEST("bpe: ignore_merges takes a whole piece that no merges make") {
  BpeModel model = make_model({{"a", "b"}});
  model.vocabulary.add("dcba", 999);
  WL_CHECK(encode(model, "dcba") == (std::vector<TokenId>{'d', 'c', 'b', 'a'}));
  model.ignore_merges = true;
  WL_CHECK(encode(model, "dcba") == (std::vector<TokenId>{999}));
}

WL_TEST("bpe: characters without a token are spelled in bytes, or unknown and fused") {
  BpeModel model = make_model({});
  model.symbols = BpeModel::Symbols::kCharacters;
  model.vocabulary.add("é", 300);
  WL_CHECK(encode(model, "é漢") == (std::vector<TokenId>{300, 0xe6, 0xbc, 0xa2}));
  model.byte_tokens[0xbc].reset();
  WL_CHECK(encode(model, "é漢é") == (std::vector<TokenId>{300, 300}));
  model.unknown = 7;
  WL_CHECK(encode(model, "漢漢é") == (std::vector<TokenId>{7, 7, 300}));
  model.fuses_unknown = true;
  WL_CHECK(encode(model, "漢漢é") == (std::vector<TokenId>{7, 300}));
}
