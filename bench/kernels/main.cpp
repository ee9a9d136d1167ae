// Every op of backend/ops.h at every instruction-set level of this machine, one thread. Prints
// lines of JSON (report.h). Exit code 1 when a result differs from the scalar reference.
// wl_bench_kernels [START]: only cases whose name starts so, such as "attention" or "linear/q4_k".

#include <cstdio>

#include "backend/registry.h"
#include "level.h"

int main(int argc, char** argv) {
  using namespace wl;
  const auto open = [](const std::string& level) {
    return backend::open_cpu_backend({level, 1, backend::Activations::kWide});
  };
  const auto reference = open("ref");
  for (const std::string& name : backend::probe_cpu().levels) {
    const auto device = open(name);
    if (!device.ok() || !reference.ok()) {
      std::fprintf(stderr, "%s does not open\n", name.c_str());
      return 1;
    }
    const bench::Level level{name, *device.value(), reference.value()->ops(),
                             bench::measure_peaks(name), argc > 1 ? argv[1] : ""};
    bench::bench_row_ops(level);
    bench::bench_attention(level);
    bench::bench_linear(level);
  }
  return bench::any_mismatch() ? 1 : 0;
}
