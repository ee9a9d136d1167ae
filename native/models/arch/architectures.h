#pragma once
// All architectures that this build runs. To add one: its file beside this one, and a line in
// kAll of architectures.cpp.

#include "models/arch/architecture.h"

namespace wl::models {

extern const Architecture kGemma3, kGptOss, kGranite, kLlama, kMistral, kMixtral, kOlmo2, kPhi3,
    kQwen2, kQwen3, kQwen3Moe, kSmolLm3;

}  // namespace wl::models
