// Every supported block format against the golden vectors, bit for bit: two blocks a type in
// quant-golden.json, eight rows of 1024 a type in test/golden/quant, where dequantized.json has
// hashes of the results.

#include "quant/dequantize.h"

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "base/json.h"
#include "check.h"
#include "golden_file.h"
#include "quant/mxfp4.h"

using wl::DType;

namespace {

constexpr DType kSupported[] = {DType::kF32,  DType::kF16,    DType::kBF16,   DType::kQ4_0,
                                DType::kQ4_1, DType::kQ5_0,   DType::kQ5_1,   DType::kQ8_0,
                                DType::kQ2_K, DType::kQ3_K,   DType::kQ4_K,   DType::kQ5_K,
                                DType::kQ6_K, DType::kIQ4_NL, DType::kIQ4_XS, DType::kMXFP4};

std::vector<uint8_t> bytes_from_hex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

/// Index of the first element whose bits differ, or the count when all are equal.
size_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) return i;
  }
  return std::min(a.size(), b.size());
}

void check_golden_blocks(DType type, const wl::JsonValue& golden) {
  const wl::DTypeTraits traits = dtype_traits(type);
  WL_CHECK_EQ(golden.find("elements_per_block")->as_int().value_or(0), traits.block_elems);
  WL_CHECK_EQ(golden.find("bytes_per_block")->as_int().value_or(0), traits.block_bytes);
  const wl::JsonArray& blocks = *golden.find("blocks_hex")->as_array();
  const wl::JsonArray& values = *golden.find("values")->as_array();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::vector<uint8_t> bytes = bytes_from_hex(*blocks[i].as_string());
    std::vector<float> expected;
    for (const wl::JsonValue& value : *values[i].as_array()) {
      expected.push_back(static_cast<float>(value.as_number().value_or(0)));
    }
    std::vector<float> actual(expected.size());
    wl::quant::dequantize(type, bytes.data(), static_cast<int64_t>(actual.size()), actual.data());
    WL_CHECK_EQ(first_difference(actual, expected), expected.size());
  }
}

/// FNV-1a, 64 bit, of the little-endian bytes.
std::string fingerprint(const std::vector<float>& values) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const float value : values) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    for (int i = 0; i < 4; ++i, bits >>= 8) hash = (hash ^ (bits & 255)) * 0x100000001b3;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace

WL_TEST("quant: golden blocks dequantise bit for bit") {
  const auto text = wl::test::read_file(wl::test::golden_path("quant-golden.json"));
  WL_CHECK(text.has_value());
  if (!text) return;
  const auto golden = wl::parse_json(*text);
  WL_CHECK(golden.ok());
  if (!golden.ok()) return;
  int num_types = 0;
  for (const DType type : kSupported) {
    const wl::JsonValue* entry = golden.value().find(dtype_traits(type).name);
    if (entry == nullptr) continue;  // float types have no blocks
    check_golden_blocks(type, *entry);
    ++num_types;
  }
  WL_CHECK_EQ(num_types, 13);
}

WL_TEST("quant: eight golden rows of 1024 a type dequantise bit for bit") {
  const auto text = wl::test::read_file(wl::test::golden_path("quant/dequantized.json"));
  const auto golden = wl::parse_json(text.value_or(""));
  WL_CHECK(golden.ok());
  if (!golden.ok()) return;
  int num_types = 0;
  for (const DType type : kSupported) {
    const std::string name = dtype_traits(type).name;
    const wl::JsonValue* entry = golden.value().find(name);
    if (entry == nullptr) continue;  // F32 needs no file
    const auto bytes = wl::test::read_file(wl::test::golden_path("quant/" + name + ".bin"));
    WL_CHECK(bytes.has_value());
    if (!bytes) continue;
    std::vector<float> values(static_cast<size_t>(entry->find("elements")->as_int().value_or(0)));
    WL_CHECK_EQ(bytes->size(), wl::row_bytes(type, static_cast<int64_t>(values.size())));
    wl::quant::dequantize(type, reinterpret_cast<const uint8_t*>(bytes->data()),
                          static_cast<int64_t>(values.size()), values.data());
    WL_CHECK_EQ(name + " " + fingerprint(values),
                name + " " + *entry->find("fnv1a64")->as_string());
    ++num_types;
  }
  WL_CHECK_EQ(num_types, 15);
}

WL_TEST("quant: blocks may lie at any address") {
  std::vector<uint8_t> aligned(256 / 32 * 20 * 3, 0x5a);
  std::vector<uint8_t> shifted(aligned.size() + 1, 0);
  std::memcpy(shifted.data() + 1, aligned.data(), aligned.size());
  for (const DType type : kSupported) {
    std::vector<float> a(256), b(256);
    if (wl::row_bytes(type, 256) > aligned.size()) continue;
    wl::quant::dequantize(type, aligned.data(), 256, a.data());
    wl::quant::dequantize(type, shifted.data() + 1, 256, b.data());
    WL_CHECK_EQ(first_difference(a, b), a.size());
  }
}

WL_TEST("quant: a count that is not whole blocks is a broken invariant") {
  uint8_t bytes[64] = {};
  float out[64];
  bool has_thrown = false;
  try {
    wl::quant::dequantize(DType::kQ4_0, bytes, 33, out);
  } catch (const wl::InternalError&) {
    has_thrown = true;
  }
  WL_CHECK(has_thrown);
}

WL_TEST("quant: an MXFP4 scale is a power of two down to its denormals, and 255 is damage") {
  WL_CHECK_EQ(wl::quant::mxfp4_scale(0), 0x1p-128f);
  WL_CHECK_EQ(wl::quant::mxfp4_scale(1), 0x1p-127f);
  WL_CHECK_EQ(wl::quant::mxfp4_scale(2), 0x1p-126f);
  WL_CHECK_EQ(wl::quant::mxfp4_scale(128), 1.0f);
  WL_CHECK_EQ(wl::quant::mxfp4_scale(254), 0x1p126f);
  std::vector<uint8_t> blocks(5 * sizeof(wl::quant::BlockMXFP4), 255);  // 255 in values is nothing
  for (size_t i = 0; i < 5; ++i) blocks[i * sizeof(wl::quant::BlockMXFP4)] = 254;
  WL_CHECK(!wl::quant::find_bad_mxfp4_block(blocks.data(), 5).has_value());
  blocks[3 * sizeof(wl::quant::BlockMXFP4)] = 255;
  WL_CHECK_EQ(wl::quant::find_bad_mxfp4_block(blocks.data(), 5).value_or(-1), 3);
}
