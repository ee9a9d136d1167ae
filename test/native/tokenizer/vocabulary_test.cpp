#include "tokenizer/vocabulary.h"

#include <map>
#include <random>
#include <string>

#include "check.h"

using wl::tokenizer::TokenId;
using wl::tokenizer::Vocabulary;

namespace {

/// Few different bytes, NUL among them, so that strings are alike: up to 20 of them, so that there
/// are short ones, longer ones, and the sizes between.
std::string random_bytes(std::mt19937* random) {
  std::string bytes((*random)() % 21, '\0');
  for (char& byte : bytes) byte = "\0ab\xff"[(*random)() % 4];
  return bytes;
}

}  // namespace

WL_TEST("vocabulary: finds what was added and nothing else, however far it grew") {
  std::mt19937 random(1);
  for (const size_t expected_tokens : {size_t{0}, size_t{5000}}) {
    std::map<std::string, TokenId> ids;
    Vocabulary vocabulary(expected_tokens);
    for (TokenId id = 0; id < 5000; ++id) {
      const std::string bytes = random_bytes(&random);
      WL_CHECK_EQ(vocabulary.add(bytes, id), ids.emplace(bytes, id).second);
    }
    for (const auto& [bytes, id] : ids) WL_CHECK(vocabulary.find(bytes) == id);
    for (int i = 0; i < 5000; ++i) {
      const std::string bytes = random_bytes(&random);
      const Vocabulary::Key key(bytes);
      vocabulary.prefetch(key);
      WL_CHECK_EQ(vocabulary.find(key).has_value(), ids.contains(bytes));
    }
  }
}

WL_TEST("vocabulary: strings of one beginning or end are different ones") {
  Vocabulary vocabulary;
  const std::string text = "0123456789abcdefghij";
  for (size_t size = 0; size <= text.size(); ++size) {
    WL_CHECK(vocabulary.add(text.substr(0, size), static_cast<TokenId>(size)));
    WL_CHECK(!vocabulary.add(text.substr(0, size), 99));
  }
  for (size_t size = 0; size <= text.size(); ++size) {
    WL_CHECK(vocabulary.find(text.substr(0, size)) == static_cast<TokenId>(size));
    const bool is_known = size == 0 || size == text.size();
    WL_CHECK_EQ(vocabulary.find(text.substr(text.size() - size)).has_value(), is_known);
  }
}
