// Models on disk: single files, split GGUF files, folders in hub form.

#include "loader/model_file.h"

#include "check.h"
#include "loader/expect_error.h"
#include "loader/gguf_writer.h"
#include "loader/temporary_folder.h"

using wl::loader::open_model_file;
using wl::test::GgufType;
using wl::test::GgufWriter;
using wl::test::TemporaryFolder;

namespace {

GgufWriter shard_writer(uint16_t number, uint16_t count, int32_t num_tensors) {
  GgufWriter writer;
  writer.add("split.no", GgufType::kU16, number);
  writer.add("split.count", GgufType::kU16, count);
  writer.add("split.tensors.count", GgufType::kI32, num_tensors);
  writer.add_f32_tensor("t" + std::to_string(number), {4});
  return writer;
}

std::string shard_name(int number, int count) {
  return "m-0000" + std::to_string(number) + "-of-0000" + std::to_string(count) + ".gguf";
}

/// Three shards with one tensor each; the path of the first.
std::string write_shards(const TemporaryFolder& folder) {
  for (uint16_t i = 0; i < 3; ++i) {
    folder.write(shard_name(i + 1, 3), shard_writer(i, 3, 3).build());
  }
  return folder.file(shard_name(1, 3));
}

std::string safetensors_of(const std::string& tensor) {
  const std::string header =
      R"({")" + tensor + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  return wl::test::le_bytes<uint64_t>(header.size()) + header + std::string(4, '\0');
}

const char* const kIndex =
    R"({"metadata":{"total_size":8},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})";

void write_sharded_folder(const TemporaryFolder& folder) {
  folder.write("config.json", "{}");
  folder.write("model.safetensors.index.json", kIndex);
  folder.write("one.safetensors", safetensors_of("a"));
  folder.write("two.safetensors", safetensors_of("b"));
}

}  // namespace

WL_TEST("model file: a single GGUF file opens and stays mapped") {
  const TemporaryFolder folder;
  GgufWriter writer;
  writer.add_f32_tensor("t", {2});
  const auto opened = open_model_file(folder.write("m.gguf", writer.build()));
  WL_CHECK_EQ(wl::test::outcome(opened), "ok");
  if (!opened.ok()) return;
  WL_CHECK_EQ(opened.value().tensors[0].bytes[7], 0);
  WL_CHECK_EQ(opened.value().total_bytes, writer.build().size());
}

WL_TEST("model file: a missing file and one without a magic are told") {
  const TemporaryFolder folder;
  WL_EXPECT_ERROR(open_model_file(folder.file("none.gguf")), "ERR_MODEL_FILE", "No such file");
  WL_EXPECT_ERROR(open_model_file(folder.write("empty.gguf", "")), "ERR_MODEL_FILE", "is empty");
  WL_EXPECT_ERROR(open_model_file(folder.write("text.gguf", "hello there")), "ERR_MODEL_FILE",
                  "is not a GGUF file");
  WL_EXPECT_ERROR(open_model_file(folder.write("x.safetensors", "hello")), "ERR_MODEL_FILE",
                  "pass the folder");
  WL_EXPECT_ERROR(open_model_file("/dev/null"), "ERR_MODEL_FILE", "not a regular file");
}

WL_TEST("model file: three shards make one model") {
  const TemporaryFolder folder;
  const auto opened = open_model_file(write_shards(folder));
  WL_CHECK_EQ(wl::test::outcome(opened), "ok");
  if (!opened.ok()) return;
  WL_CHECK_EQ(opened.value().tensors.size(), size_t{3});
  WL_CHECK_EQ(opened.value().mappings.size(), size_t{3});
}

WL_TEST("model file: a shard that is missing, swapped, repeated or not the first is told") {
  const TemporaryFolder folder;
  const std::string first = write_shards(folder);
  WL_EXPECT_ERROR(open_model_file(folder.file(shard_name(2, 3))), "ERR_MODEL_FORMAT",
                  "is shard 2 of 3; pass the first one");
  std::filesystem::remove(folder.file(shard_name(3, 3)));
  WL_EXPECT_ERROR(open_model_file(first), "ERR_MODEL_FILE", "shard 3 of 3: m-00003-of-00003.gguf");
  folder.write(shard_name(3, 3), shard_writer(1, 3, 3).build());
  WL_EXPECT_ERROR(open_model_file(first), "ERR_MODEL_FORMAT", "is not shard 3 of 3");
  GgufWriter repeated = shard_writer(2, 3, 3);
  repeated.tensors[0].name = "t1";
  folder.write(shard_name(3, 3), repeated.build());
  WL_EXPECT_ERROR(open_model_file(first), "ERR_MODEL_FORMAT", "\"t1\" is in two shards");
  folder.write(shard_name(3, 3), shard_writer(2, 3, 3).build());
  folder.write(shard_name(1, 3), shard_writer(0, 3, 4).build());
  WL_EXPECT_ERROR(open_model_file(first), "ERR_MODEL_FORMAT", "split.tensors.count is 4");
  const auto renamed = folder.write("renamed.gguf", shard_writer(0, 3, 3).build());
  WL_EXPECT_ERROR(open_model_file(renamed), "ERR_MODEL_FORMAT", "must end in -00001-of-00003.gguf");
}

WL_TEST(
    "model file: a folder with one weight file opens; consolidated weights beside it do not "
    "count") {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type":"llama"})");
  folder.write("model.safetensors", safetensors_of("a"));
  folder.write("consolidated.safetensors", safetensors_of("a"));
  const auto opened = open_model_file(folder.path());
  WL_CHECK_EQ(wl::test::outcome(opened), "ok");
  if (!opened.ok()) return;
  WL_CHECK_EQ(opened.value().tensors.size(), size_t{1});
  WL_CHECK_EQ(opened.value().config_json, R"({"model_type":"llama"})");
}

WL_TEST("model file: a folder without config or weights is told what it lacks") {
  const TemporaryFolder folder;
  WL_EXPECT_ERROR(open_model_file(folder.path()), "ERR_MODEL_FILE", "without config.json");
  folder.write("config.json", "{}");
  WL_EXPECT_ERROR(open_model_file(folder.path()), "ERR_MODEL_FILE", "has neither");
  folder.write("config.json", "");
  WL_EXPECT_ERROR(open_model_file(folder.path()), "ERR_MODEL_FILE", "config.json: is empty");
}

WL_TEST("model file: the shard index must name plain files that are there and hold its tensors") {
  const TemporaryFolder folder;
  write_sharded_folder(folder);
  const auto opened = open_model_file(folder.path());
  WL_CHECK_EQ(wl::test::outcome(opened), "ok");
  if (opened.ok()) WL_CHECK_EQ(opened.value().tensors.size(), size_t{2});

  folder.write("two.safetensors", safetensors_of("c"));
  WL_EXPECT_ERROR(open_model_file(folder.path()), "ERR_MODEL_FORMAT", "lacks tensor \"b\"");
  folder.write("two.safetensors", safetensors_of("a"));
  WL_EXPECT_ERROR(open_model_file(folder.path()), "ERR_MODEL_FORMAT", "\"a\" is in another file");
  std::filesystem::remove(folder.file("two.safetensors"));
  WL_EXPECT_ERROR(open_model_file(folder.path()), "ERR_MODEL_FILE", "two.safetensors");
  for (const char* name : {"../two.safetensors", "/etc/passwd", "..", ""}) {
    folder.write("model.safetensors.index.json",
                 std::string(R"({"weight_map":{"a":")") + name + R"("}})");
    WL_EXPECT_ERROR(open_model_file(folder.path()), "ERR_MODEL_FORMAT", "names no plain file");
  }
  folder.write("model.safetensors.index.json", R"({"weight_map":{}})");
  WL_EXPECT_ERROR(open_model_file(folder.path()), "ERR_MODEL_FORMAT", "no weight_map");
}
