#include "tokenizer/gguf_tokenizer.h"

#include "check.h"
#include "loader/expect_error.h"

using wl::loader::MetaArrayF;
using wl::loader::MetaArrayI;
using wl::loader::MetaArrayS;
using wl::loader::MetaValue;
using wl::tokenizer::EncodeOptions;
using wl::tokenizer::TokenId;
using wl::tokenizer::Tokenizer;
using wl::tokenizer::tokenizer_from_gguf;

namespace {

using Metadata = std::map<std::string, MetaValue>;
using Ids = std::vector<TokenId>;
constexpr auto kParsed = EncodeOptions::ControlTokens::kParsed;
constexpr auto kGuarded = EncodeOptions::ControlTokens::kGuarded;

template <class T>
void set(Metadata* metadata, const std::string& key, T value) {
  (*metadata)["tokenizer.ggml." + key] = MetaValue{std::move(value), 0};
}

Metadata byte_level() {
  Metadata metadata;
  set(&metadata, "model", std::string("gpt2"));
  set(&metadata, "pre", std::string("gpt-2"));
  set(&metadata, "tokens", MetaArrayS{"a", "b", "ab", "Ġ", "<|x|>", "<tool>", "<unused1>"});
  set(&metadata, "token_type", MetaArrayI{1, 1, 1, 1, 3, 4, 4});
  set(&metadata, "merges", MetaArrayS{"a b"});
  return metadata;
}

Metadata sentence_piece() {
  Metadata metadata;
  set(&metadata, "model", std::string("llama"));
  set(&metadata, "tokens",
      MetaArrayS{"<unk>", "<s>", "</s>", "▁", "a", "▁a", "aa", "▁aa", "<0x0A>", "b▁"});
  set(&metadata, "token_type", MetaArrayI{2, 3, 3, 1, 1, 1, 1, 1, 6, 4});
  set(&metadata, "scores", MetaArrayF{0, 0, 0, -1, -2, -5, -3, -4, 0, 0});
  return metadata;
}

Ids encode(const Metadata& metadata, const std::string& text, const EncodeOptions& options = {}) {
  const auto tokenizer = tokenizer_from_gguf(metadata);
  return tokenizer.ok() ? tokenizer.value().encode(text, options) : Ids{-1};
}

std::string bytes_of(const Tokenizer& tokenizer, TokenId id) {
  const auto& [bytes, starts] = tokenizer.token_bytes();
  const size_t at = static_cast<size_t>(id);
  return bytes.substr(starts[at], starts[at + 1] - starts[at]);
}

/// The metadata with one key set to another value.
template <class T>
Metadata changed(Metadata metadata, const std::string& key, T value) {
  set(&metadata, key, std::move(value));
  return metadata;
}

}  // namespace

WL_TEST("gguf tokenizer: control tokens only when asked, added text always") {
  const std::string text = "ab<|x|><tool> a";
  WL_CHECK(encode(byte_level(), text, {.control_tokens = kParsed}) == (Ids{2, 4, 5, 3, 0}));
  WL_CHECK(encode(byte_level(), "<|x|>a") == (Ids{0}));  // no token spells the rest
}

WL_TEST("gguf tokenizer: guarded text is text again, the marker around it a token") {
  const std::string guarded = "<|x|>a<\xef\xb7\x90\xef\xb7\x91|x|>\xef\xb7\x90\xef\xb7\x90";
  WL_CHECK(encode(byte_level(), guarded, {.control_tokens = kGuarded}) == (Ids{4, 0}));
}

WL_TEST("gguf tokenizer: output bytes leave out control tokens and placeholders") {
  const auto made = tokenizer_from_gguf(byte_level());
  WL_CHECK(made.ok());
  WL_CHECK_EQ(bytes_of(made.value(), 3), std::string(" "));
  WL_CHECK_EQ(bytes_of(made.value(), 4), std::string());
  WL_CHECK_EQ(bytes_of(made.value(), 5), std::string("<tool>"));
  WL_CHECK_EQ(bytes_of(made.value(), 6), std::string());
  WL_CHECK(made.value().find("<|x|>") == std::optional<TokenId>(4));
}

WL_TEST(
    "gguf tokenizer: SentencePiece joins by score, puts one space in front, falls back to bytes") {
  WL_CHECK(encode(sentence_piece(), "aa") == (Ids{7}));
  WL_CHECK(encode(sentence_piece(), "a\nc") == (Ids{5, 8, 0}));
  WL_CHECK(encode(changed(sentence_piece(), "add_space_prefix", false), "aa") == (Ids{6}));
  WL_CHECK(encode(sentence_piece(), "a</s>a", {.control_tokens = kParsed}) == (Ids{5, 2, 5}));
}

WL_TEST("gguf tokenizer: a token that goes on behind a space keeps the text in one piece") {
  Metadata metadata = sentence_piece();
  set(&metadata, "token_type", MetaArrayI{2, 3, 3, 1, 1, 1, 1, 1, 6, 1});
  set(&metadata, "tokens",
      MetaArrayS{"<unk>", "<s>", "</s>", "▁", "a", "▁a", "aa", "▁aa", "<0x0A>", "a▁"});
  set(&metadata, "scores", MetaArrayF{0, 0, 0, -1, -2, -5, -3, -4, 0, 9});
  WL_CHECK(encode(metadata, "a a") == (Ids{3, 9, 4}));
}

WL_TEST("gguf tokenizer: BOS and the ends of a generation, declared or by default") {
  const auto plain = tokenizer_from_gguf(sentence_piece());
  WL_CHECK(plain.value().facts().bos_id == std::optional<TokenId>(1));
  WL_CHECK(plain.value().facts().adds_bos);
  WL_CHECK(plain.value().facts().end_ids == (Ids{2}));
  Metadata metadata = changed(byte_level(), "eos_token_id", int64_t{1});
  set(&metadata, "eot_token_id", int64_t{4});
  set(&metadata, "add_bos_token", true);
  const auto declared = tokenizer_from_gguf(metadata);
  WL_CHECK(declared.value().facts().end_ids == (Ids{1, 4}));
  WL_CHECK(declared.value().facts().adds_bos);
  WL_CHECK(!declared.value().facts().bos_id.has_value());
}

WL_TEST(
    "gguf tokenizer: a missing pre-tokenizer warns, an unknown one and other kinds are refused") {
  Metadata metadata = byte_level();
  metadata.erase("tokenizer.ggml.pre");
  WL_CHECK(tokenizer_from_gguf(metadata).value().facts().warning.has_value());
  WL_EXPECT_ERROR(tokenizer_from_gguf(changed(byte_level(), "pre", std::string("x\n"))),
                  "ERR_TOKENIZER_TYPE", "pre-tokenizer \"x\\x0a\" is not supported");
  WL_EXPECT_ERROR(tokenizer_from_gguf(changed(byte_level(), "model", std::string("rwkv"))),
                  "ERR_TOKENIZER_TYPE", "tokenizer model \"rwkv\" is not supported");
  WL_EXPECT_ERROR(tokenizer_from_gguf({}), "ERR_TOKENIZER_FORMAT", "has no tokenizer");
}

WL_TEST("gguf tokenizer: damaged vocabularies are errors that name the key or the token") {
  const auto expect = [](const Metadata& metadata, const char* piece) {
    WL_EXPECT_ERROR(tokenizer_from_gguf(metadata), "ERR_TOKENIZER_FORMAT", piece);
  };
  expect(changed(byte_level(), "tokens", int64_t{7}), "tokens is not an array of strings");
  expect(changed(byte_level(), "tokens", MetaArrayS{}), "tokens is missing or empty");
  expect(changed(byte_level(), "token_type", MetaArrayI{1}), "has 1 entries for 7 tokens");
  expect(changed(byte_level(), "merges", int64_t{7}), "merges is not an array of strings");
  expect(changed(byte_level(), "merges", MetaArrayS{"ab"}), "which is not two tokens");
  expect(changed(byte_level(), "merges", MetaArrayS{"a c"}), "a merge names the token \"c\"");
  expect(changed(byte_level(), "merges", MetaArrayS{"b a"}), "a merge names the token \"ba\"");
  expect(changed(byte_level(), "bos_token_id", int64_t{7}), "is 7, outside the vocabulary");
  expect(changed(byte_level(), "eot_token_id", int64_t{-1}), "is -1, outside the vocabulary");
  expect(changed(byte_level(), "add_bos_token", int64_t{1}), "add_bos_token is not a boolean");
  expect(changed(byte_level(), "tokens", MetaArrayS{"a", "b", "ab", "a", "x", "y", "z"}),
         "the token \"a\" twice, again as id 3");
  expect(changed(byte_level(), "token_type", MetaArrayI{3, 3, 3, 3, 3, 3, 3}),
         "no token of a byte");
  expect(changed(byte_level(), "tokens",
                 MetaArrayS{"a", "b", "ab", "c", std::string(257, 'x'), "y", "z"}),
         "token 4, a control or added one, has 257 bytes");
  expect(changed(sentence_piece(), "scores", MetaArrayF{0}), "scores has 1 entries for 10 tokens");
  Metadata metadata = byte_level();
  metadata.erase("tokenizer.ggml.merges");
  expect(metadata, "merges is missing");
}

WL_TEST("gguf tokenizer: a merge that makes a control token is left out") {
  Metadata metadata = changed(byte_level(), "token_type", MetaArrayI{1, 1, 3, 1, 3, 4, 4});
  WL_CHECK(encode(metadata, "ab") == (Ids{0, 1}));
}

WL_TEST("gguf tokenizer: any bytes can be encoded, and empty text has no tokens") {
  WL_CHECK(encode(byte_level(), std::string("a\xff\0b\xe4\xb8", 6)) == (Ids{0, 1}));
  WL_CHECK(encode(sentence_piece(), "\xff\xfe") == (Ids{3, 0}));
  WL_CHECK(encode(sentence_piece(), "").empty());
}
