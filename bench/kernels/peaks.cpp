#include "peaks.h"

#include <algorithm>

#include "base/aligned_buffer.h"
#include "peak_loops.h"
#include "report.h"
#include "stopwatch.h"

namespace wl::bench {

namespace {

constexpr int64_t kRounds = 1 << 20;  // about 4 ms of any loop
// Well inside L1, L2 and L3 of the CPUs this runs on, and well beyond all of them.
constexpr size_t kReadSets[] = {16 << 10, 384 << 10, 4 << 20, 128 << 20};

volatile double consumed;  // keeps the compiler from dropping a loop whose result nobody needs

double best_rate(const Row& row) { return *std::max_element(row.rates.begin(), row.rates.end()); }

double measure_loop(const MacLoop& loop, const std::string& id) {
  const Timing timing = time_work([&] { consumed = loop.run(kRounds); });
  const Row row = make_row(id, "GMAC/s", 1e-9 * loop.macs_per_round * kRounds, timing);
  print_row(row);
  return best_rate(row);
}

/// Loops of a level of cpu/dispatch.h; "ref" is scalar code of the baseline CPU.
PeakLoops peak_loops([[maybe_unused]] const std::string& level) {
#if defined(WL_HAVE_AVX2)
  if (level == "avx2") return avx2_peak_loops();
#endif
#if defined(WL_HAVE_AVX512)
  // Tiles are held against the vectors that they are to beat.
  if (level == "avx512" || level == "amx") return avx512_peak_loops();
#endif
  return baseline_peak_loops();
}

}  // namespace

double Peaks::read_gb_per_s(int64_t bytes) const {
  for (const Read& read : reads) {
    if (bytes <= static_cast<int64_t>(read.set_bytes)) return read.gb_per_s;
  }
  return reads.back().gb_per_s;
}

Peaks measure_peaks(const std::string& level) {
  const PeakLoops loops = peak_loops(level);
  Peaks peaks;
  peaks.fma_gmac_per_s = measure_loop(loops.fma, "peak/fma/" + level);
  peaks.int16_gmac_per_s = measure_loop(loops.int16, "peak/int16/" + level);
  AlignedBuffer buffer;
  if (!buffer.allocate(kReadSets[std::size(kReadSets) - 1])) return peaks;
  std::fill_n(buffer.data(), buffer.size(), uint8_t{1});
  for (const size_t bytes : kReadSets) {
    const Timing timing =
        time_work([&] { consumed = static_cast<double>(loops.read(buffer.data(), bytes)); });
    const std::string id = "peak/read-" + std::to_string(bytes >> 10) + "KiB/" + level;
    const Row row = make_row(id, "GB/s", 1e-9 * static_cast<double>(bytes), timing);
    print_row(row);
    peaks.reads.push_back({bytes, best_rate(row)});
  }
  return peaks;
}

}  // namespace wl::bench
