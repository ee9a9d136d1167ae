#pragma once
// What a stored nibble stands for in each nibble form of backend/weight.h: an entry of a table, or
// the nibble less a centre.

#include "backend/weight.h"
#include "quant/iq4_nl.h"
#include "quant/mxfp4.h"

namespace wl::cpu {

/// 16 entries, or null for a form whose nibbles are numbers.
constexpr const int8_t* nibble_table(backend::WeightForm form) {
  if (form == backend::WeightForm::kNibbleIq4) return quant::kIq4Values;
  if (form == backend::WeightForm::kNibbleFp4) return quant::kFp4Values;
  return nullptr;
}

constexpr int nibble_centre(backend::WeightForm form) {
  if (form == backend::WeightForm::kNibble) return 8;
  if (form == backend::WeightForm::kNibbleSubScale) return 4;
  return 0;
}

}  // namespace wl::cpu
