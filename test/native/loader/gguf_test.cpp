// The GGUF reader: what it reads, and what it refuses. Each refusal has crashed another loader
// once.

#include "loader/gguf.h"

#include "check.h"
#include "loader/exact_bytes.h"
#include "loader/expect_error.h"
#include "loader/gguf_writer.h"

using wl::loader::GgufContents;
using wl::loader::parse_gguf;
using wl::test::ExactBytes;
using wl::test::GgufTensor;
using wl::test::GgufType;
using wl::test::GgufWriter;
using wl::test::le_bytes;

namespace {

wl::Result<GgufContents> parse(const std::string& bytes) {
  const ExactBytes exact(bytes);
  return parse_gguf(exact.span(), "file");
}

/// One key and two tensors.
GgufWriter small_writer() {
  GgufWriter writer;
  writer.add_text("general.architecture", "llama");
  writer.add_f32_tensor("a", {2, 3});
  writer.add_f32_tensor("b", {5});
  return writer;
}

void check_refused(const GgufWriter& writer, const std::string& code, const std::string& piece) {
  WL_EXPECT_ERROR(parse(writer.build()), code, piece);
}

}  // namespace

WL_TEST("gguf: tensors get their names, shapes slow to fast, types and bytes") {
  GgufWriter writer = small_writer();
  writer.tensor("b").bytes = le_bytes(1.5f) + std::string(16, '\0');
  const ExactBytes exact(writer.build());
  const auto parsed = parse_gguf(exact.span(), "file");
  WL_CHECK_EQ(wl::test::outcome(parsed), "ok");
  if (!parsed.ok()) return;
  const auto& tensors = parsed.value().tensors;
  WL_CHECK_EQ(tensors.size(), size_t{2});
  WL_CHECK(tensors[0].shape == (std::vector<int64_t>{2, 3}));
  WL_CHECK_EQ(tensors[0].num_bytes, size_t{24});
  float first = 0;
  std::memcpy(&first, tensors[1].bytes, sizeof first);
  WL_CHECK_EQ(first, 1.5f);
}

WL_TEST("gguf: every value type comes back") {
  GgufWriter writer;
  writer.add("u8", GgufType::kU8, uint8_t{200});
  writer.add("i8", GgufType::kI8, int8_t{-3});
  writer.add("u16", GgufType::kU16, uint16_t{60000});
  writer.add("i16", GgufType::kI16, int16_t{-300});
  writer.add("u32", GgufType::kU32, uint32_t{4000000000});
  writer.add("i32", GgufType::kI32, int32_t{-70000});
  writer.add("u64", GgufType::kU64, uint64_t{1} << 63);
  writer.add("i64", GgufType::kI64, int64_t{-1});
  writer.add("f32", GgufType::kF32, 0.5f);
  writer.add("f64", GgufType::kF64, 0.25);
  writer.add("bool", GgufType::kBool, uint8_t{1});
  writer.add_text("text", "caf\xc3\xa9");
  writer.add_texts("texts", {"x", ""});
  writer.add_numbers<int16_t>("numbers", GgufType::kI16, {-1, 2});
  writer.add_array("nested", GgufType::kArray, 1,
                   le_bytes(uint32_t{4}) + le_bytes(uint64_t{1}) + le_bytes(uint32_t{7}));
  const auto parsed = parse(writer.build());
  WL_CHECK_EQ(wl::test::outcome(parsed), "ok");
  if (!parsed.ok()) return;
  const auto& metadata = parsed.value().metadata;
  const auto integer = [&](const char* key) { return std::get<int64_t>(metadata.at(key).v); };
  WL_CHECK_EQ(integer("u8"), 200);
  WL_CHECK_EQ(integer("i8"), -3);
  WL_CHECK_EQ(integer("u16"), 60000);
  WL_CHECK_EQ(integer("i16"), -300);
  WL_CHECK_EQ(integer("u32"), 4000000000);
  WL_CHECK_EQ(integer("i32"), -70000);
  WL_CHECK_EQ(integer("i64"), -1);
  WL_CHECK_EQ(std::get<uint64_t>(metadata.at("u64").v), uint64_t{1} << 63);
  WL_CHECK_EQ(std::get<double>(metadata.at("f32").v), 0.5);
  WL_CHECK_EQ(std::get<double>(metadata.at("f64").v), 0.25);
  WL_CHECK_EQ(std::get<bool>(metadata.at("bool").v), true);
  WL_CHECK_EQ(std::get<std::string>(metadata.at("text").v), "caf\xc3\xa9");
  WL_CHECK_EQ(std::get<wl::loader::MetaArrayS>(metadata.at("texts").v).size(), size_t{2});
  WL_CHECK(std::get<wl::loader::MetaArrayI>(metadata.at("numbers").v) ==
           (wl::loader::MetaArrayI{-1, 2}));
  WL_CHECK_EQ(metadata.at("numbers").element_type, uint32_t{3});
  WL_CHECK(!metadata.contains("nested"));
}

WL_TEST("gguf: version 2 and another alignment load") {
  GgufWriter writer = small_writer();
  writer.version = 2;
  writer.alignment = 64;
  writer.add_u32("general.alignment", 64);
  WL_CHECK_EQ(wl::test::outcome(parse(writer.build())), "ok");
}

WL_TEST("gguf: other versions and byte orders are refused by name") {
  GgufWriter writer = small_writer();
  writer.version = 1;
  check_refused(writer, "ERR_MODEL_FILE", "version 1");
  writer.version = 4;
  check_refused(writer, "ERR_MODEL_FILE", "version 4");
  writer.version = 0x03000000;
  check_refused(writer, "ERR_MODEL_FILE", "big-endian");
}

WL_TEST("gguf: what is no model is named for what it is, without its raw bytes") {
  WL_EXPECT_ERROR(parse(""), "ERR_MODEL_FILE", "is empty");
  WL_EXPECT_ERROR(parse("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"),
                  "ERR_MODEL_FILE", "Git LFS pointer");
  WL_EXPECT_ERROR(parse("\n <!doctype html><title>Login</title>"), "ERR_MODEL_FILE", "HTML");
  WL_EXPECT_ERROR(parse(std::string(4096, '\0')), "ERR_MODEL_FILE", "unfinished download");
  WL_EXPECT_ERROR(parse("\x1b]0;test\x07\xff"), "ERR_MODEL_FILE", "\\x1b]0;test\\x07\\xff");
}

WL_TEST("gguf: counts that cannot be true are refused before anything is allocated") {
  for (const uint64_t count : {uint64_t{1} << 63, uint64_t{1} << 40, uint64_t{100000}}) {
    GgufWriter writer = small_writer();
    writer.num_tensors = count;
    check_refused(writer, "ERR_MODEL_FORMAT", "tensors");
    writer.num_tensors.reset();
    writer.num_metadata = count;
    check_refused(writer, "ERR_MODEL_FORMAT", "metadata entries");
    writer.num_metadata.reset();
    for (const GgufType type : {GgufType::kString, GgufType::kU8, GgufType::kF64}) {
      writer.add_array("array", type, count, "");
      check_refused(writer, "ERR_MODEL_FORMAT", "\"array\"");
    }
  }
}

WL_TEST("gguf: metadata must be well formed") {
  GgufWriter twice = small_writer();
  twice.metadata.push_back(twice.metadata[0]);
  check_refused(twice, "ERR_MODEL_FORMAT", "\"general.architecture\" twice");
  GgufWriter unnamed = small_writer();
  unnamed.add_u32("", 1);
  check_refused(unnamed, "ERR_MODEL_FORMAT", "unreadable metadata key");
  GgufWriter untyped = small_writer();
  untyped.set("key", le_bytes(uint32_t{13}));
  check_refused(untyped, "ERR_MODEL_FORMAT", "unknown value type 13");
  GgufWriter neither = small_writer();
  neither.add("flag", GgufType::kBool, uint8_t{2});
  check_refused(neither, "ERR_MODEL_FORMAT", "\"flag\" is a bool of value 2");
  GgufWriter deep = small_writer();
  std::string nested = le_bytes(uint32_t{0}) + le_bytes(uint64_t{0});
  for (int i = 0; i < 6; ++i) nested = le_bytes(uint32_t{9}) + le_bytes(uint64_t{1}) + nested;
  deep.set("deep", le_bytes(uint32_t{9}) + nested);
  check_refused(deep, "ERR_MODEL_FORMAT", "nests too deep");
}

WL_TEST("gguf: an array that says another element type is named when the next key makes no sense") {
  GgufWriter writer = small_writer();
  std::string elements;
  for (const int32_t value : {1, 3, 1, 1}) elements += le_bytes(value);
  writer.add_array("token_type", GgufType::kU8, 4, elements);
  writer.add_u32("next", 1);
  check_refused(writer, "ERR_MODEL_FORMAT", "behind \"token_type\"");
}

WL_TEST("gguf: a string longer than the file is refused") {
  for (const uint64_t length : {uint64_t{1} << 63, ~uint64_t{0}, uint64_t{5000}}) {
    GgufWriter writer = small_writer();
    writer.set("text", le_bytes(uint32_t{8}) + le_bytes(length) + "abc");
    check_refused(writer, "ERR_MODEL_FORMAT", "\"text\"");
  }
}

WL_TEST("gguf: alignment must be a power of two") {
  for (const uint32_t alignment : {0u, 3u, 48u}) {
    GgufWriter writer = small_writer();
    writer.add_u32("general.alignment", alignment);
    check_refused(writer, "ERR_MODEL_FORMAT", "general.alignment");
  }
}

WL_TEST("gguf: names, dimensions and types of tensors are checked") {
  GgufWriter twice = small_writer();
  twice.tensors[1].name = "a";
  check_refused(twice, "ERR_MODEL_FORMAT", "tensor \"a\" twice");
  GgufWriter long_name = small_writer();
  long_name.tensors[0].name = std::string(64, 'n');
  check_refused(long_name, "ERR_MODEL_FORMAT", "too long tensor name");
  GgufWriter flat = small_writer();
  flat.tensors[0].dims = {};
  check_refused(flat, "ERR_MODEL_FORMAT", "0 dimensions");
  GgufWriter tall = small_writer();
  tall.tensors[0].dims = {1, 1, 1, 1, 1};
  check_refused(tall, "ERR_MODEL_FORMAT", "5 dimensions");
  GgufWriter huge = small_writer();
  huge.tensors[0].dims = {uint64_t{1} << 40, uint64_t{1} << 40};
  check_refused(huge, "ERR_MODEL_FORMAT", "more elements than 2^63");
  huge.tensors[0].dims = {uint64_t{1} << 63};
  check_refused(huge, "ERR_MODEL_FORMAT", "dimension of 9223372036854775808");
  huge.tensors[0].dims = {uint64_t{1} << 62};
  check_refused(huge, "ERR_MODEL_FORMAT", "larger than the file");
  GgufWriter partial = small_writer();
  partial.tensors[0].type = 2;
  check_refused(partial, "ERR_MODEL_FORMAT", "not whole Q4_0 blocks of 32");
}

WL_TEST("gguf: types that are gone or unknown are named") {
  GgufWriter writer = small_writer();
  writer.tensors[0].type = 4;
  check_refused(writer, "ERR_MODEL_TYPE", "removed type 4; re-convert the file");
  writer.tensors[0].type = 77;
  check_refused(writer, "ERR_MODEL_TYPE", "unknown type 77");
  writer.tensors[0].type = wl::kSafetensorsOnly + 1;
  check_refused(writer, "ERR_MODEL_TYPE", "tensor \"a\"");
}

WL_TEST("gguf: tensors neither overlap nor leave holes") {
  for (const uint64_t offset : {uint64_t{0}, uint64_t{8}, uint64_t{64}, ~uint64_t{31}}) {
    GgufWriter writer = small_writer();
    writer.tensors[1].offset = offset;
    check_refused(writer, "ERR_MODEL_FORMAT", "overlapping, misaligned or out of order");
  }
}

WL_TEST("gguf: missing data is told with both sizes") {
  const std::string bytes = small_writer().build();
  WL_EXPECT_ERROR(parse(bytes.substr(0, bytes.size() - 32)), "ERR_MODEL_FORMAT",
                  "is truncated: tensor \"b\"");
}
