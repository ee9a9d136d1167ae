#include "loader/safetensors.h"

#include "check.h"
#include "loader/exact_bytes.h"
#include "loader/expect_error.h"
#include "loader/gguf_writer.h"

namespace {

using wl::test::ExactBytes;

const char* const kTwoTensors = R"({"__metadata__":{"format":"pt"},)"
                                R"("b":{"dtype":"BF16","shape":[2,2],"data_offsets":[12,20]},)"
                                R"("a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}  )";

std::string file_of(const std::string& header, size_t data_bytes) {
  return wl::test::le_bytes<uint64_t>(header.size()) + header + std::string(data_bytes, '\x01');
}

wl::Result<std::vector<wl::loader::TensorEntry>> parse(const std::string& bytes) {
  const ExactBytes exact(bytes);
  return wl::loader::parse_safetensors(exact.span(), "file");
}

/// A file with one F32 tensor of two elements, one member replaced.
std::string one_tensor(const std::string& dtype, const std::string& shape,
                       const std::string& offsets, size_t data_bytes) {
  return file_of(
      R"({"t":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}",
      data_bytes);
}

}  // namespace

WL_TEST("safetensors: tensors come in the order of their data") {
  const auto parsed = parse(file_of(kTwoTensors, 20));
  WL_CHECK_EQ(wl::test::outcome(parsed), "ok");
  if (!parsed.ok()) return;
  WL_CHECK_EQ(parsed.value().size(), size_t{2});
  WL_CHECK_EQ(parsed.value()[0].name, "a");
  WL_CHECK_EQ(parsed.value()[1].ggml_type, uint32_t{30});
  WL_CHECK(parsed.value()[1].shape == (std::vector<int64_t>{2, 2}));
  WL_CHECK_EQ(parsed.value()[1].num_bytes, size_t{8});
}

WL_TEST("safetensors: scalars, empty tensors and types of other uses are read") {
  WL_CHECK(parse(one_tensor(R"("F32")", "[]", "[0,4]", 4)).ok());
  WL_CHECK(parse(one_tensor(R"("F32")", "[0,7]", "[0,0]", 0)).ok());
  WL_CHECK(parse(one_tensor(R"("U8")", "[3]", "[0,3]", 3)).ok());
  WL_CHECK(parse(one_tensor(R"("F8_E4M3")", "[3]", "[0,3]", 3)).ok());
  WL_CHECK(parse(file_of("{}", 0)).ok());
}

WL_TEST("safetensors: a cut or lengthened file is told with its sizes") {
  const std::string bytes = file_of(kTwoTensors, 20);
  WL_EXPECT_ERROR(parse(bytes.substr(0, bytes.size() - 1)), "ERR_MODEL_FORMAT", "truncated");
  WL_EXPECT_ERROR(parse(bytes.substr(0, bytes.size() - 20)), "ERR_MODEL_FORMAT", "truncated");
  WL_EXPECT_ERROR(parse(bytes.substr(0, 40)), "ERR_MODEL_FORMAT", "truncated");
  WL_EXPECT_ERROR(parse(bytes.substr(0, 5)), "ERR_MODEL_FORMAT", "truncated");
  WL_EXPECT_ERROR(parse(bytes + "1234567"), "ERR_MODEL_FORMAT", "7 extra bytes");
}

WL_TEST("safetensors: what is no model is named for what it is") {
  WL_EXPECT_ERROR(parse(""), "ERR_MODEL_FILE", "is empty");
  WL_EXPECT_ERROR(parse("version https://git-lfs.github.com/spec/v1\noid"), "ERR_MODEL_FILE",
                  "Git LFS pointer");
  WL_EXPECT_ERROR(parse("<html><body>Login</body></html>"), "ERR_MODEL_FILE", "HTML");
  WL_EXPECT_ERROR(parse("\x1b]0;some title"), "ERR_MODEL_FILE", "\\x1b]0;");
}

WL_TEST("safetensors: ranges tile the data") {
  const auto two = [](const char* first, const char* second) {
    return parse(file_of(std::string(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)") + first +
                             R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + second + "}}",
                         16));
  };
  WL_CHECK(two("[0,8]", "[8,16]").ok());
  WL_CHECK(two("[8,16]", "[0,8]").ok());
  WL_EXPECT_ERROR(two("[0,8]", "[4,12]"), "ERR_MODEL_FORMAT", "overlap or leave a hole");
  WL_EXPECT_ERROR(two("[0,8]", "[0,8]"), "ERR_MODEL_FORMAT", "overlap or leave a hole");
  WL_EXPECT_ERROR(two("[4,12]", "[12,20]"), "ERR_MODEL_FORMAT", "overlap or leave a hole");
}

WL_TEST("safetensors: impossible descriptions are refused") {
  const char* const kF32 = R"("F32")";
  WL_EXPECT_ERROR(parse(one_tensor(kF32, "[2]", "[0,4]", 8)), "ERR_MODEL_FORMAT", "spans 4 bytes");
  WL_EXPECT_ERROR(parse(one_tensor(kF32, "[2]", "[8,0]", 8)), "ERR_MODEL_FORMAT", "data_offsets");
  WL_EXPECT_ERROR(parse(one_tensor(kF32, "[2]", "[0]", 8)), "ERR_MODEL_FORMAT", "data_offsets");
  WL_EXPECT_ERROR(parse(one_tensor(kF32, "[-2]", "[0,8]", 8)), "ERR_MODEL_FORMAT", "shape");
  WL_EXPECT_ERROR(parse(one_tensor(kF32, "[2.5]", "[0,8]", 8)), "ERR_MODEL_FORMAT", "shape");
  WL_EXPECT_ERROR(parse(one_tensor(kF32, "[4611686018427387904,4]", "[0,8]", 8)),
                  "ERR_MODEL_FORMAT", "shape");
  WL_EXPECT_ERROR(parse(one_tensor(kF32, "[4611686018427387904]", "[0,8]", 8)), "ERR_MODEL_FORMAT",
                  "larger than the file");
  WL_EXPECT_ERROR(parse(one_tensor(kF32, "[1,1,1,1,1,1,1,1,2]", "[0,8]", 8)), "ERR_MODEL_FORMAT",
                  "at most 8");
  WL_EXPECT_ERROR(parse(one_tensor("7", "[2]", "[0,8]", 8)), "ERR_MODEL_FORMAT", "dtype");
  WL_EXPECT_ERROR(parse(one_tensor(R"("F4")", "[2]", "[0,1]", 1)), "ERR_MODEL_TYPE", "dtype F4");
  WL_EXPECT_ERROR(parse(one_tensor(R"("Q4_0")", "[32]", "[0,18]", 18)), "ERR_MODEL_TYPE", "Q4_0");
}

WL_TEST("safetensors: the header is strict JSON without duplicate names") {
  const std::string tensor = R"("t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  WL_EXPECT_ERROR(parse(file_of("{" + tensor + "," + tensor + "}", 4)), "ERR_MODEL_FORMAT",
                  "duplicate key \"t\"");
  WL_EXPECT_ERROR(parse(file_of("{" + tensor + ",}", 4)), "ERR_MODEL_FORMAT", "JSON");
  WL_EXPECT_ERROR(parse(file_of("[1]", 0)), "ERR_MODEL_FORMAT", "'{'");
  WL_EXPECT_ERROR(parse(file_of(R"({"__metadata__":{"a":1}})", 0)), "ERR_MODEL_FORMAT",
                  "__metadata__");
}

WL_TEST("safetensors fuzz: any changed or missing byte of the header gives an error or tensors") {
  std::string bytes = file_of(kTwoTensors, 20);
  const size_t header_bytes = bytes.size() - 20;
  int num_cut = 0;
  for (size_t size = 0; size < bytes.size(); ++size) num_cut += parse(bytes.substr(0, size)).ok();
  WL_CHECK_EQ(num_cut, 0);
  int num_refused = 0;
  for (size_t i = 0; i < header_bytes; ++i) {
    const char original = bytes[i];
    for (int value = 0; value < 256; ++value) {
      bytes[i] = static_cast<char>(value);
      num_refused += !parse(bytes).ok();
    }
    bytes[i] = original;
  }
  WL_CHECK(num_refused > 1000);
}
