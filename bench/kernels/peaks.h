#pragma once
// What this machine can do at most, on one core: the roofs that bench/kernels measures against.
// The loops are our own and do nothing else; each level's are compiled with that level's flags.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wl::bench {

/// Measured peaks of one level on one core.
struct Peaks {
  struct Read {
    size_t set_bytes;
    double gb_per_s;
  };
  double fma_gmac_per_s = 0;
  double int16_gmac_per_s = 0;
  std::vector<Read> reads;  // by set size, ascending: L1, L2, L3, DRAM on most machines

  /// Rate at which a working set of this many bytes can be read again and again.
  double read_gb_per_s(int64_t bytes) const;
};

/// Measures all loops of a level and reports them as rows `peak/...`. Takes about a second.
Peaks measure_peaks(const std::string& level);

}  // namespace wl::bench
