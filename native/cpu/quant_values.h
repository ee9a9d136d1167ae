#pragma once
// What a stored integer stands for in each form of backend/weight.h: an entry of a table, or itself
// less a centre.

#include "backend/weight.h"
#include "quant/iq4_nl.h"
#include "quant/mxfp4.h"

namespace wl::cpu {

constexpr bool has_nibble_table(backend::WeightForm form) {
  return form == backend::WeightForm::kNibbleIq4 || form == backend::WeightForm::kNibbleFp4;
}

/// The 16 entries of a form that has a table.
constexpr const int8_t* nibble_table(backend::WeightForm form) {
  return form == backend::WeightForm::kNibbleIq4 ? quant::kIq4Values : quant::kFp4Values;
}

constexpr int quant_centre(backend::WeightForm form) {
  if (form == backend::WeightForm::kSixBitSubScale) return 32;
  if (form == backend::WeightForm::kNibble) return 8;
  if (form == backend::WeightForm::kNibbleSubScale) return 4;
  return 0;
}

}  // namespace wl::cpu
