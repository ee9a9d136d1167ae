// GGUF files: container, tokenizer metadata, configuration, weight map, packing, a short run.

#include "model_trial.h"

namespace {
constexpr size_t kHeadBytes = 24'000;  // metadata and tensor table of the seeds
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return wl::fuzz::mutate_head(data, size, max_size, seed, kHeadBytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const wl::fuzz::MemoryFile file({data, size});
  wl::fuzz::try_model(file.path(), size);
  return 0;
}
