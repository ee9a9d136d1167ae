// The trial of one level against another: what it takes for equal, for different and for better.

#include "cpu/level_trial.h"

#include "check.h"
#include "levels.h"

namespace wl::cpu {
namespace {

/// The reference with one bit wrong in the last output of every product of bytes.
KernelTable faulty_kernels() {
  KernelTable table = *ref_kernels();
  table.linear[static_cast<int>(backend::WeightForm::kByte)] = [](const LinearArgs& args) {
    ref_kernels()->linear[static_cast<int>(backend::WeightForm::kByte)](args);
    if (args.panel_end != args.weight.num_panels()) return;
    float& last = args.out.row(args.out.rows - 1)[args.out.cols - 1];
    uint32_t bits;
    std::memcpy(&bits, &last, sizeof(bits));
    bits ^= 1;
    std::memcpy(&last, &bits, sizeof(bits));
  };
  return table;
}

WL_TEST("a trial finds every level equal to the reference, and takes time") {
  for (const KernelTable* level : simd_levels()) {
    const LevelTrial trial = try_level(*ref_kernels(), *level);
    WL_CHECK(trial.is_equal);
    WL_CHECK(trial.base_seconds > 0);
    WL_CHECK(trial.candidate_seconds > 0);
  }
}

WL_TEST("a trial finds a single wrong bit") {
  const KernelTable faulty = faulty_kernels();
  WL_CHECK(!try_level(*ref_kernels(), faulty).is_equal);
}

WL_TEST("a level is better when it is equal and faster by more than noise") {
  WL_CHECK((LevelTrial{true, 1.0, 0.9}).is_better());
  WL_CHECK(!(LevelTrial{true, 1.0, 0.99}).is_better());
  WL_CHECK(!(LevelTrial{true, 1.0, 2.0}).is_better());
  WL_CHECK(!(LevelTrial{false, 1.0, 0.1}).is_better());
}

}  // namespace
}  // namespace wl::cpu
