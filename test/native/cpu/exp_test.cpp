#include <cmath>

#include "check.h"
#include "cpu/exp_poly.h"
#include "cpu/ref/lanes.h"

namespace wl::cpu {
namespace {

WL_TEST("cpu: exp stays within 2 ulp of the exact value over its whole range") {
  double worst_ulps = 0;
  for (int i = 0; i <= 1750000; ++i) {
    const float x = kExpMin + static_cast<float>(i) * 1e-4f;
    const double exact = std::exp(static_cast<double>(x));
    const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst_ulps = std::max(worst_ulps, std::fabs(ref::exp_scalar(x) - exact) / ulp);
  }
  WL_CHECK(worst_ulps < 2.0);
}

WL_TEST("cpu: exp clamps, keeps NaN and is exact at zero") {
  WL_CHECK_EQ(ref::exp_scalar(0.0f), 1.0f);
  WL_CHECK_EQ(ref::exp_scalar(-1e30f), ref::exp_scalar(kExpMin));
  WL_CHECK_EQ(ref::exp_scalar(1e30f), ref::exp_scalar(kExpMax));
  WL_CHECK(std::isfinite(ref::exp_scalar(kExpMax)));
  WL_CHECK(std::isnan(ref::exp_scalar(NAN)));
}

}  // namespace
}  // namespace wl::cpu
