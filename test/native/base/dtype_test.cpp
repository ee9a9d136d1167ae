#include "base/dtype.h"

#include "check.h"

WL_TEST("dtype: the types this build computes are exactly the supported ones") {
  std::string supported;
  for (uint32_t id = 0; id < 64; ++id) {
    const auto traits = wl::dtype_traits(id);
    if (traits && traits->is_supported) supported += std::string(traits->name) + " ";
  }
  WL_CHECK_EQ(
      supported,
      "F32 F16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS BF16 MXFP4 ");
}

WL_TEST("dtype: every id has a name for messages") {
  WL_CHECK_EQ(wl::dtype_name(18), "IQ3_XXS");
  WL_CHECK_EQ(wl::dtype_name(39), "MXFP4");
  WL_CHECK_EQ(wl::dtype_name(4), "removed type 4");
  WL_CHECK_EQ(wl::dtype_name(38), "removed type 38");
  WL_CHECK_EQ(wl::dtype_name(77), "unknown type 77");
  WL_CHECK(!wl::dtype_traits(4).has_value());
  WL_CHECK(!wl::dtype_traits(77).has_value());
}

WL_TEST("dtype: bytes of a row") {
  WL_CHECK_EQ(wl::row_bytes(wl::DType::kQ4_1, 576), size_t{360});
  WL_CHECK_EQ(wl::row_bytes(wl::DType::kQ6_K, 512), size_t{420});
  WL_CHECK_EQ(wl::row_bytes(wl::DType::kBF16, 7), size_t{14});
}
