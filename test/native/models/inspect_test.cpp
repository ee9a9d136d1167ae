#include "models/inspect.h"

#include "check.h"
#include "loader/expect_error.h"
#include "loader/temporary_folder.h"
#include "models/tiny_model.h"

using wl::models::inspect_model;

WL_TEST("inspect: a model that runs shows sizes, tensors and metadata") {
  const wl::test::TemporaryFolder folder;
  const auto inspected =
      inspect_model(folder.write("m.gguf", wl::test::tiny_gguf("llama").build()));
  WL_CHECK_EQ(wl::test::outcome(inspected), "ok");
  if (!inspected.ok()) return;
  const wl::models::Inspection& inspection = inspected.value();
  WL_CHECK_EQ(inspection.config.arch, "llama");
  WL_CHECK_EQ(inspection.tensors.size(), size_t{20});
  WL_CHECK_EQ(inspection.tensors[0].type, "F32");
  WL_CHECK_EQ(inspection.kv_bytes_per_token, 2 * 2 * 1 * 2 * 2);
  WL_CHECK(inspection.metadata.contains("tokenizer.ggml.tokens"));
  WL_CHECK(!inspection.refusal.has_value());
}

WL_TEST("inspect: a readable model that would not run says why") {
  const wl::test::TemporaryFolder folder;
  wl::test::GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_text("general.architecture", "rwkv6");
  const auto foreign = inspect_model(folder.write("m.gguf", writer.build()));
  WL_CHECK_EQ(wl::test::outcome(foreign), "ok");
  if (!foreign.ok()) return;
  WL_CHECK_EQ(foreign.value().config.arch, "");
  WL_CHECK(foreign.value().refusal.value_or("").starts_with("ERR_MODEL_ARCH: "));

  wl::test::GgufWriter extra = wl::test::tiny_gguf("llama");
  extra.add_f32_tensor("mystery.weight", {4});
  const auto refused = inspect_model(folder.write("m.gguf", extra.build()));
  WL_CHECK_EQ(refused.value().config.arch, "llama");
  WL_CHECK(refused.value().refusal.value_or("").find("mystery.weight") != std::string::npos);
}

WL_TEST("inspect: a damaged file is an error") {
  const wl::test::TemporaryFolder folder;
  const std::string bytes = wl::test::tiny_gguf("llama").build();
  WL_EXPECT_ERROR(inspect_model(folder.write("m.gguf", bytes.substr(0, bytes.size() / 2))),
                  "ERR_MODEL_FORMAT", "truncated");
}
