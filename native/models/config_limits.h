#pragma once
// What the engine can run at all. Far above any model of today; they keep products of two
// hyperparameters inside int32 and allocations sane before the tensors themselves are checked.

#include "models/config_fields.h"

namespace wl::models {

constexpr IntRange kLayersRange{1, 1024};
constexpr IntRange kHiddenRange{1, 1 << 17};
constexpr IntRange kFfnRange{1, 1 << 20};
constexpr IntRange kHeadsRange{1, 1024};
constexpr IntRange kHeadDimRange{2, 1024};
constexpr IntRange kVocabRange{1, 1 << 22};
constexpr IntRange kContextRange{1, 1 << 27};
constexpr IntRange kExpertsRange{1, 1024};
constexpr NumberRange kEpsRange{0.0, 0.1};
constexpr NumberRange kRopeBaseRange{1.0, 1e12};
constexpr NumberRange kScaleRange{0.0, 1e6};  // factors and multipliers

}  // namespace wl::models
