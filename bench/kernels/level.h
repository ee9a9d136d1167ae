#pragma once
// One instruction-set level under measurement, and what every case does with it: check the result
// against the scalar reference, then time, then compare with the roof
//   seconds at the roof = max(multiply-adds / compute peak, bytes / read bandwidth of their set)
// The larger of the two decides whether a case is told in GMAC/s or in GB/s.

#include <string>

#include "backend/backend.h"
#include "peaks.h"
#include "report.h"

namespace wl::bench {

struct Level {
  std::string name;
  backend::Backend& device;
  backend::Ops& reference;
  Peaks peaks;
  std::string filter;  // start of the names of the cases to run; empty: all
  bool wants(const std::string& name) const { return name.starts_with(filter); }
  bool is_reference() const { return name == "ref"; }
};

/// What one run of a case has to do at least.
struct Load {
  int64_t bytes = 0;      // read and written, each once
  int64_t set_bytes = 0;  // of the memory they lie in; less than `bytes` where an op works in place
  int64_t macs = 0;
  bool is_integer = false;  // int16 products, else float32
};

/// The scalar reference is timed where one run is this small: it is an oracle, not an engine.
constexpr int64_t kMaxReferenceMacs = 1 << 22;

/// `is_equal`: the level's result has the reference's bits.
template <class Work>
void report_case(const Level& level, const std::string& name, const Load& load, bool is_equal,
                 const Work& work) {
  if (!level.wants(name)) return;
  const std::string id = name + "/" + level.name;
  if (!is_equal) return print_mismatch(id);
  if (level.is_reference() && load.macs > kMaxReferenceMacs) return;
  const double gmacs = 1e-9 * static_cast<double>(load.macs);
  const double gbytes = 1e-9 * static_cast<double>(load.bytes);
  const double gmac_per_s =
      load.is_integer ? level.peaks.int16_gmac_per_s : level.peaks.fma_gmac_per_s;
  const double compute_seconds = gmacs / gmac_per_s;
  const double memory_seconds = gbytes / level.peaks.read_gb_per_s(load.set_bytes);
  const bool is_memory_bound = memory_seconds >= compute_seconds;
  const double amount = is_memory_bound ? gbytes : gmacs;
  Row row = make_row(id, is_memory_bound ? "GB/s" : "GMAC/s", amount, time_work(work));
  row.roof = amount / (is_memory_bound ? memory_seconds : compute_seconds);
  print_row(row);
}

void bench_linear(const Level& level);
void bench_row_ops(const Level& level);
void bench_attention(const Level& level);

}  // namespace wl::bench
