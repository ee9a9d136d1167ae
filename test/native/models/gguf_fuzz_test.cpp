// A valid small model, damaged in every way that one byte allows: the answer is an error or a
// model, never a crash. Under AddressSanitizer the heap copy has exactly the file's length.

#include <map>

#include "check.h"
#include "loader/exact_bytes.h"
#include "loader/expect_error.h"
#include "loader/gguf.h"
#include "loader/tokenizer_metadata.h"
#include "models/tiny_model.h"
#include "models/weight_map.h"

namespace {

using wl::loader::ModelFile;

/// The whole way from bytes to weights, as the engine goes it.
wl::Status load(const std::string& bytes) {
  const wl::test::ExactBytes exact(bytes);
  auto parsed = wl::loader::parse_gguf(exact.span(), "file");
  if (!parsed.ok()) return parsed.error();
  ModelFile file;
  file.metadata = std::move(parsed.value().metadata);
  file.tensors = std::move(parsed.value().tensors);
  WL_RETURN_IF_ERROR(wl::loader::check_tokenizer_metadata(file.metadata, "file"));
  const auto config = wl::models::read_model_config(file);
  if (!config.ok()) return config.error();
  const auto weights = wl::models::map_weights(file, config.value());
  if (!weights.ok()) return weights.error();
  uint32_t checksum = 0;  // reads every byte that the loader vouches for
  for (const auto& [name, entry] : weights.value()) {
    std::vector<uint8_t> rows(entry.num_bytes());
    wl::models::copy_rows(entry, rows.data());
    for (const uint8_t byte : rows) checksum += byte;
  }
  WL_CHECK_EQ(checksum, 0u);  // all weights are zero
  return {};
}

}  // namespace

WL_TEST("gguf fuzz: a model cut off at any byte is an error") {
  const std::string bytes = wl::test::tiny_gguf("llama").build();
  WL_CHECK_EQ(wl::test::outcome(load(bytes)), "ok");
  int num_loaded = 0;
  // The last tensor is padded behind its bytes; everything before that end is needed.
  const size_t needed = bytes.size() - 16;
  for (size_t size = 0; size < needed; ++size) num_loaded += load(bytes.substr(0, size)).ok();
  WL_CHECK_EQ(num_loaded, 0);
}

WL_TEST("gguf fuzz: any changed byte of the header gives an error or a model") {
  std::map<std::string, int> outcomes;
  for (const char* arch : wl::test::kGgufArchitectures) {
    const wl::test::GgufWriter writer = wl::test::tiny_gguf(arch);
    const size_t header_bytes = writer.build_header().size();
    std::string bytes = writer.build();
    for (size_t i = 0; i < header_bytes; ++i) {
      const char original = bytes[i];
      for (const int mask : {0x01, 0x80, 0xff}) {
        bytes[i] = static_cast<char>(original ^ mask);
        const wl::Status status = load(bytes);
        ++outcomes[status.ok() ? "ok" : wl::error_code_name(status.error().code)];
      }
      bytes[i] = original;
    }
  }
  WL_CHECK(outcomes["ERR_MODEL_FORMAT"] > 1000);
  WL_CHECK(outcomes["ERR_MODEL_TENSOR"] > 0);
  WL_CHECK_EQ(outcomes["ERR_INTERNAL"], 0);
}

WL_TEST("gguf fuzz: extreme values in any eight bytes of the header give an error or a model") {
  const wl::test::GgufWriter writer = wl::test::tiny_gguf("llama");
  const size_t header_bytes = writer.build_header().size();
  const std::string bytes = writer.build();
  int num_tried = 0;
  for (size_t i = 0; i + 8 <= header_bytes; ++i) {
    for (const uint64_t value : {uint64_t{1} << 63, ~uint64_t{0}, uint64_t{0}, uint64_t{1} << 31}) {
      std::string damaged = bytes;
      damaged.replace(i, 8, wl::test::le_bytes(value));
      num_tried += !load(damaged).ok();
    }
  }
  WL_CHECK(num_tried > 1000);
}
