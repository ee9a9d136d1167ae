#pragma once
// Results as lines of JSON on stdout; bench/kernels/run.mjs makes the table and the result file.

#include <optional>
#include <string>
#include <vector>

#include "stopwatch.h"

namespace wl::bench {

struct Row {
  std::string id;
  std::string unit;            // "GB/s" or "GMAC/s"
  std::vector<double> rates;   // one a sample
  std::optional<double> roof;  // the most this machine could reach, in `unit`
  bool is_disturbed = false;
};

/// `amount`: giga-units (10^9 bytes or multiply-adds) of one run.
Row make_row(const std::string& id, const std::string& unit, double amount, const Timing& timing);
void print_row(const Row& row);
/// A result that differs from the reference; the run fails at its end.
void print_mismatch(const std::string& id);
bool any_mismatch();

}  // namespace wl::bench
