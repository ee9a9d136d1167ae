#pragma once
// The peak loops, written once. V is the vector type of one instruction set and lives in an unnamed
// namespace of the file that instantiates them; that file has flags of its own, so no std code
// here.

#include <cstddef>
#include <cstdint>

namespace wl::bench {

/// A loop over registers only. `run` returns something that depends on all of its work.
struct MacLoop {
  int macs_per_round;
  double (*run)(int64_t rounds);
};

/// The loops of one instruction set.
struct PeakLoops {
  MacLoop fma;    // float32 multiply-add
  MacLoop int16;  // int16 products added in pairs to int32, the arithmetic of quantised kernels
  /// Reads `count` bytes, a multiple of kReadStep, once.
  uint64_t (*read)(const uint8_t* bytes, size_t count);
};
constexpr size_t kReadStep = 512;

PeakLoops baseline_peak_loops();
PeakLoops avx2_peak_loops();
PeakLoops avx512_peak_loops();

// Independent chains: as many as latency times throughput of any multiply-add so far, or more, and
// they fit 16 registers together with their two operands. Products in pairs (V::kInt16Chains) need
// a register more for each that is on its way: with 12 of them in 16 registers gcc spills.
constexpr int kChains = 12;

template <class V>
double run_fma(int64_t rounds) {
  // Read at run time, so that the compiler cannot compute the result.
  volatile float factor_source = 0.999f, term_source = 0.001f;
  const typename V::F factor = V::set1(factor_source), term = V::set1(term_source);
  typename V::F chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = V::set1(static_cast<float>(c));
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) chain[c] = V::fma(chain[c], factor, term);
  }
  double sum = 0;
  for (int c = 0; c < kChains; ++c) sum += V::first(chain[c]);
  return sum;
}

template <class V>
double run_int16(int64_t rounds) {
  volatile int factor_source = 3;
  const typename V::I factor = V::iset1(factor_source);
  typename V::I chain[V::kInt16Chains];
  for (int c = 0; c < V::kInt16Chains; ++c) chain[c] = V::iset1(c);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int c = 0; c < V::kInt16Chains; ++c) chain[c] = V::dot16(chain[c], chain[c], factor);
  }
  double sum = 0;
  for (int c = 0; c < V::kInt16Chains; ++c) sum += V::ifirst(chain[c]);
  return sum;
}

template <class V>
uint64_t run_read(const uint8_t* bytes, size_t count) {
  constexpr size_t kSums = 8;
  typename V::I sum[kSums];
  for (auto& s : sum) s = V::iset1(0);
  for (size_t at = 0; at < count; at += kSums * V::kBytes) {
#pragma GCC unroll 8
    for (size_t s = 0; s < kSums; ++s)
      sum[s] = V::iadd(sum[s], V::iload(bytes + at + s * V::kBytes));
  }
  uint64_t total = 0;
  for (const auto& s : sum) total += static_cast<uint64_t>(V::ifirst(s));
  return total;
}

template <class V>
PeakLoops make_peak_loops() {
  static_assert(kReadStep % (8 * V::kBytes) == 0);
  return {{kChains * V::kFloats, run_fma<V>},
          {V::kInt16Chains * V::kInt16Macs, run_int16<V>},
          run_read<V>};
}

}  // namespace wl::bench
