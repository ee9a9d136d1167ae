#include "loader/tokenizer_metadata.h"

#include "check.h"
#include "loader/exact_bytes.h"
#include "loader/expect_error.h"
#include "loader/gguf.h"
#include "models/tiny_model.h"

using wl::test::GgufType;
using wl::test::GgufWriter;

namespace {

wl::Status check(const GgufWriter& writer) {
  const wl::test::ExactBytes exact(writer.build());
  const auto parsed = wl::loader::parse_gguf(exact.span(), "file");
  if (!parsed.ok()) return parsed.error();
  return wl::loader::check_tokenizer_metadata(parsed.value().metadata, "file");
}

GgufWriter tokenizer_writer() {
  GgufWriter writer;
  wl::test::add_tiny_tokenizer(&writer);
  return writer;
}

}  // namespace

WL_TEST("tokenizer metadata: a sound tokenizer, and none at all, are fine") {
  WL_CHECK(check(tokenizer_writer()).ok());
  WL_CHECK(check(GgufWriter{}).ok());
}

WL_TEST("tokenizer metadata: arrays of another element type are refused with their key") {
  GgufWriter writer = tokenizer_writer();
  writer.add_numbers<uint8_t>("tokenizer.ggml.token_type", GgufType::kU8, {3, 3, 1, 1, 1});
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "token_type is an array of value type 0");
  writer = tokenizer_writer();
  writer.add_u32("tokenizer.ggml.token_type", 1);
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "token_type is no array");
  writer = tokenizer_writer();
  writer.add_numbers<double>("tokenizer.ggml.scores", GgufType::kF64, {0, 0, 0, 0, 0});
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "scores is an array");
  writer = tokenizer_writer();
  writer.add_numbers<int32_t>("tokenizer.ggml.tokens", GgufType::kI32, {1, 2, 3, 4, 5});
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "tokens is an array");
  writer = tokenizer_writer();
  writer.add_text("tokenizer.ggml.merges", "a b");
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "merges is no array");
}

WL_TEST("tokenizer metadata: arrays are as long as the vocabulary") {
  GgufWriter writer = tokenizer_writer();
  writer.add_numbers<float>("tokenizer.ggml.scores", GgufType::kF32, {0, 0, 0, 0});
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "scores has 4 elements");
  writer = tokenizer_writer();
  writer.add_numbers<int32_t>("tokenizer.ggml.token_type", GgufType::kI32, {1, 1, 1, 1, 1, 1});
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "token_type has 6 elements");
  writer = tokenizer_writer();
  writer.add_texts("tokenizer.ggml.tokens", {});
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "tokens is empty");
}

WL_TEST("tokenizer metadata: ids, kinds and flags are in range") {
  GgufWriter writer = tokenizer_writer();
  writer.add_u32("tokenizer.ggml.eos_token_id", 5);
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "eos_token_id is 5, outside");
  writer = tokenizer_writer();
  writer.add_text("tokenizer.ggml.bos_token_id", "0");
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "bos_token_id is no integer");
  writer = tokenizer_writer();
  writer.add_numbers<int32_t>("tokenizer.ggml.token_type", GgufType::kI32, {3, 3, 1, 1, 9});
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "token_type holds 9");
  writer = tokenizer_writer();
  writer.add_u32("tokenizer.ggml.add_bos_token", 1);
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "add_bos_token is no bool");
  writer = tokenizer_writer();
  writer.add_u32("tokenizer.chat_template", 1);
  WL_EXPECT_ERROR(check(writer), "ERR_MODEL_FORMAT", "chat_template is no string");
}
