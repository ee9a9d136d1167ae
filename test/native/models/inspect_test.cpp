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
  WL_CHECK_EQ(inspection.kv_costs.size(), size_t{3});
  WL_CHECK_EQ(inspection.kv_costs[0].type, "f16");
  // Two layers of one KV head; rows of V are padded to 16.
  WL_CHECK_EQ(inspection.kv_costs[0].memory.per_token, 2 * (2 + 16) * 2);
  WL_CHECK_EQ(inspection.kv_costs[2].type, "f32");
  WL_CHECK_EQ(inspection.kv_costs[2].memory.per_token, 2 * (2 + 16) * 4);
  WL_CHECK(inspection.metadata.contains("tokenizer.ggml.tokens"));
  WL_CHECK(inspection.refusals.empty());
}

WL_TEST("inspect: a readable model that would not run says why") {
  const wl::test::TemporaryFolder folder;
  wl::test::GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_text("general.architecture", "rwkv6");
  const auto foreign = inspect_model(folder.write("m.gguf", writer.build()));
  WL_CHECK_EQ(wl::test::outcome(foreign), "ok");
  if (!foreign.ok()) return;
  WL_CHECK_EQ(foreign.value().config.arch, "");
  WL_CHECK_EQ(foreign.value().refusals.size(), size_t{1});
  WL_CHECK(foreign.value().refusals[0].code == wl::ErrorCode::kModelArch);
}

WL_TEST("inspect: all reasons that can be told at once") {
  const wl::test::TemporaryFolder folder;
  wl::test::GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_f32_tensor("mystery.weight", {4});
  writer.remove_tensor("blk.1.ffn_up.weight");
  writer.remove_tensor("output_norm.weight");
  const auto shaped = inspect_model(folder.write("m.gguf", writer.build())).value();
  WL_CHECK_EQ(shaped.config.arch, "llama");
  WL_CHECK_EQ(shaped.refusals.size(), size_t{3});
  WL_CHECK(shaped.refusals[0].message.find("mystery.weight") != std::string::npos);

  // Types can be judged without a configuration.
  writer.add_text("general.architecture", "rwkv6");
  writer.tensor("mystery.weight").type = 28;
  writer.tensor("mystery.weight").bytes.resize(32);
  const auto foreign = inspect_model(folder.write("m.gguf", writer.build())).value();
  WL_CHECK_EQ(foreign.refusals.size(), size_t{2});
  WL_CHECK(foreign.refusals[1].code == wl::ErrorCode::kModelType);
}

WL_TEST("inspect: a damaged file is an error") {
  const wl::test::TemporaryFolder folder;
  const std::string bytes = wl::test::tiny_gguf("llama").build();
  WL_EXPECT_ERROR(inspect_model(folder.write("m.gguf", bytes.substr(0, bytes.size() / 2))),
                  "ERR_MODEL_FORMAT", "truncated");
}
