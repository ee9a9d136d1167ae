// Tokenizers: a vocabulary from GGUF metadata or from tokenizer.json, then a text in every way of
// encoding. One input is a length of 32 bits, little-endian, the vocabulary's bytes, the text's.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "loader/gguf.h"
#include "loader/tokenizer_metadata.h"
#include "model_trial.h"
#include "tokenizer/gguf_tokenizer.h"
#include "tokenizer/json_tokenizer.h"

namespace {

using wl::tokenizer::EncodeOptions;
using wl::tokenizer::TokenId;
using wl::tokenizer::Tokenizer;

constexpr size_t kHeadBytes = 12'000;  // the seeds' vocabularies

wl::Result<Tokenizer> read_vocabulary(const std::vector<uint8_t>& bytes) {
  if (!wl::loader::has_gguf_magic(bytes)) {
    return wl::tokenizer::tokenizer_from_json(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  auto contents = wl::loader::parse_gguf(bytes, "vocabulary");
  if (!contents.ok()) return contents.error();
  const auto& metadata = contents.value().metadata;
  WL_RETURN_IF_ERROR(wl::loader::check_tokenizer_metadata(metadata, "vocabulary"));
  return wl::tokenizer::tokenizer_from_gguf(metadata);
}

/// Every id has bytes to decode to.
void check_ids(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  const auto& starts = tokenizer.token_bytes().starts;
  for (const TokenId id : ids) {
    const auto index = static_cast<size_t>(id);
    if (id >= 0 && index < tokenizer.num_tokens() && starts[index] <= starts[index + 1] &&
        starts[index + 1] <= tokenizer.token_bytes().bytes.size()) {
      continue;
    }
    std::fprintf(stderr, "token id %d is not in the vocabulary\n", static_cast<int>(id));
    std::abort();
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return wl::fuzz::mutate_head(data, size, max_size, seed, kHeadBytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint32_t length = 0;
  const size_t length_bytes = std::min(size, sizeof length);
  std::memcpy(&length, data, length_bytes);
  const uint8_t* const begin = data + length_bytes;
  const size_t split = std::min<size_t>(length, size - length_bytes);
  // Copies of exactly their size: what reads past an end reads past the allocation.
  const std::vector<uint8_t> vocabulary(begin, begin + split);
  const std::vector<char> text(begin + split, data + size);
  const auto tokenizer = read_vocabulary(vocabulary);
  if (!tokenizer.ok()) return 0;
  using Control = EncodeOptions::ControlTokens;
  for (const Control control : {Control::kAsText, Control::kParsed, Control::kGuarded}) {
    for (const bool starts_prompt : {true, false}) {
      const EncodeOptions options{control, starts_prompt};
      check_ids(tokenizer.value(), tokenizer.value().encode({text.data(), text.size()}, options));
    }
  }
  return 0;
}
