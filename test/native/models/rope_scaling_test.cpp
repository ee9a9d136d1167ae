#include "models/rope_scaling.h"

#include <cmath>

#include "check.h"

using namespace wl::models;

namespace {

bool is_close(double a, double b) { return std::abs(a - b) < 1e-5 * std::abs(b); }

}  // namespace

WL_TEST("rope scaling: llama3 has the published factors") {
  const std::vector<float> small = llama3_freq_factors({32.0, 1.0, 4.0, 8192.0}, 500000.0, 64);
  for (size_t i = 0; i <= 14; ++i) WL_CHECK_EQ(small[i], 1.0f);
  WL_CHECK(is_close(small[15], 1.65133));
  WL_CHECK(is_close(small[16], 3.29226));
  WL_CHECK(is_close(small[17], 9.66673));
  for (size_t i = 18; i < 32; ++i) WL_CHECK_EQ(small[i], 32.0f);
  const std::vector<float> large = llama3_freq_factors({8.0, 1.0, 4.0, 8192.0}, 500000.0, 128);
  const double kMiddle[] = {1, 1.20748, 1.55341, 2.02631, 2.69453, 3.68425, 5.25733, 8};
  for (size_t i = 0; i < std::size(kMiddle); ++i) WL_CHECK(is_close(large[28 + i], kMiddle[i]));
}

WL_TEST("rope scaling: yarn's range as published for gpt-oss, rounded or not") {
  YarnScaling scaling{.factor = 32.0, .original_context = 4096.0, .is_truncated = false};
  const YarnRange exact = yarn_range(scaling, 150000.0, 64);
  WL_CHECK(is_close(exact.low, 8.09278));
  WL_CHECK(is_close(exact.high, 17.39802));
  scaling.is_truncated = true;
  const YarnRange rounded = yarn_range(scaling, 150000.0, 64);
  WL_CHECK_EQ(rounded.low, 8.0);
  WL_CHECK_EQ(rounded.high, 18.0);
}

WL_TEST("rope scaling: yarn keeps fast pairs, divides slow ones and blends between") {
  const YarnScaling scaling{.factor = 32.0, .original_context = 4096.0};
  const std::vector<float> plain = inverse_frequencies(150000.0, 64);
  const std::vector<float> scaled = yarn_frequencies(scaling, 150000.0, 64);
  for (size_t i = 0; i <= 8; ++i) WL_CHECK_EQ(scaled[i], plain[i]);
  // Pair 13 is half-way between 8 and 18.
  WL_CHECK(is_close(scaled[13], plain[13] * (0.5 + 0.5 / 32.0)));
  for (size_t i = 18; i < 32; ++i) WL_CHECK(is_close(scaled[i], plain[i] / 32.0));
}

WL_TEST("rope scaling: magnitudes of yarn and longrope") {
  WL_CHECK(is_close(yarn_magnitude(32.0, {}, {}), 1.0 + 0.1 * std::log(32.0)));
  WL_CHECK_EQ(yarn_magnitude(1.0, {}, {}), 1.0f);
  WL_CHECK_EQ(yarn_magnitude(40.0, 1.0, 1.0), 1.0f);
  const double expected = (1.0 + 0.1 * std::log(40.0)) / (1.0 + 0.0707 * std::log(40.0));
  WL_CHECK(is_close(yarn_magnitude(40.0, 1.0, 0.707), expected));
  WL_CHECK(is_close(longrope_magnitude(131072, 4096), 1.190238));
  WL_CHECK_EQ(longrope_magnitude(4096, 4096), 1.0f);
}
