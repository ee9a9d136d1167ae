#pragma once
// exp for float32, defined by these operations and no others, so that every instruction set gives
// the same bits:
//   x = min(max(x, kExpMin), kExpMax)
//   n = (x * kLog2E + kRoundMagic) - kRoundMagic            product, sum and difference rounded
//   each r = fma(-n, kLn2High, x);  r = fma(-n, kLn2Low, r)      |r| <= ln(2) / 2 p = 1/5040; p =
//   fma(p, r, 1/720); ... fma(p, r, 1/2), fma(p, r, 1), fma(p, r, 1)   Taylor, r^7 e^x = p * 2^n, n
//   added to the exponent of a float
// Error against double exp: below 2 ulp over the clamped range (test/native/cpu/exp_test.cpp).

namespace wl::cpu {

constexpr float kExpMin = -87.0f;  // below it the result would be denormal
constexpr float kExpMax = 88.0f;   // e^88 is the last whole power below float's maximum
constexpr float kLog2E = 1.44269504f;
constexpr float kLn2High = 0.693359375f;    // 10 significant bits: n * kLn2High is exact
constexpr float kLn2Low = -2.12194440e-4f;  // ln 2 - kLn2High
constexpr float kRoundMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
constexpr int kNumExpCoefficients = 8;
constexpr float kExpCoefficients[kNumExpCoefficients] = {  // 1/7!, 1/6!, ... 1/1!, 1/0!
    1.0f / 5040.0f, 1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f};

// tanh-GELU: z = g * fma(g * g, kGeluCubic, kGeluLinear), see Ops::gated_mlp.
constexpr float kGeluLinear = 1.59576912f;   // 2 sqrt(2 / pi)
constexpr float kGeluCubic = 0.0713548163f;  // the same times 0.044715
constexpr float kClampedSwigluSlope = 1.702f;

}  // namespace wl::cpu
