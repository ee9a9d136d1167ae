// Which matrix takes which type when a float model is quantised at load.

#include "models/load_quantization.h"

#include "check.h"

using wl::DType;
using wl::models::quantized_type;
using wl::models::WeightEntry;

namespace {

WeightEntry matrix(DType type, int cols) {
  WeightEntry entry;
  entry.type = type;
  entry.rows = 64;
  entry.cols = cols;
  return entry;
}

DType type_of(const std::string& name, int cols, DType wanted) {
  const auto type = quantized_type(name, matrix(DType::kBF16, cols), wanted);
  WL_CHECK(type.ok());
  return type.ok() ? type.value() : DType::kI8;
}

}  // namespace

WL_TEST("load quantization: matrices of layers take the type, embedding and head Q8_0") {
  for (const DType wanted : {DType::kQ8_0, DType::kQ4_0, DType::kQ4_K}) {
    WL_CHECK(type_of("blk.3.ffn_up.weight", 512, wanted) == wanted);
    WL_CHECK(type_of("blk.3.ffn_down_exps.7.weight", 512, wanted) == wanted);
    WL_CHECK(type_of("token_embd.weight", 512, wanted) == DType::kQ8_0);
    WL_CHECK(type_of("output.weight", 512, wanted) == DType::kQ8_0);
  }
}

WL_TEST("load quantization: a router stays as it is") {
  WL_CHECK(type_of("blk.0.ffn_gate_inp.weight", 512, DType::kQ4_0) == DType::kBF16);
}

WL_TEST("load quantization: rows that are not multiples of 256 take Q5_0 for Q4_K") {
  WL_CHECK(type_of("blk.0.attn_q.weight", 576, DType::kQ4_K) == DType::kQ5_0);
  WL_CHECK(type_of("blk.0.attn_q.weight", 576, DType::kQ4_0) == DType::kQ4_0);
}

WL_TEST("load quantization: what no type can take is refused by name") {
  const auto odd = quantized_type("blk.0.attn_q.weight", matrix(DType::kF16, 40), DType::kQ4_0);
  WL_CHECK(!odd.ok() && odd.error().code == wl::ErrorCode::kModelType);
  WL_CHECK(!odd.ok() && odd.error().message.find("blk.0.attn_q.weight has rows of 40") == 0);
  const auto twice = quantized_type("blk.0.attn_q.weight", matrix(DType::kQ6_K, 512), DType::kQ8_0);
  WL_CHECK(!twice.ok() && twice.error().message.find("already quantized") != std::string::npos);
}
