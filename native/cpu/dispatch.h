#pragma once
// Which instruction-set levels this CPU runs, by cpuid and XCR0, and their kernel tables.

#include <string>
#include <vector>

#include "base/result.h"
#include "cpu/kernels.h"

namespace wl::cpu {

/// Levels this machine and build can run, slowest first: "ref", "avx2", "avx512", "amx".
std::vector<std::string> available_levels();

/// Table of a level, or of the best one for "auto"; whether that is "amx" where there is it, a
/// trial of some milliseconds tells (cpu/level_trial.h). Errors: ERR_INVALID_ARGUMENT naming the
/// levels there are.
Result<const KernelTable*> kernels_for(const std::string& level);

/// Brand string of the CPU, for reports.
std::string cpu_name();

}  // namespace wl::cpu
