#pragma once
// A weight matrix in the form that kernels read, packed once at load from the file's own blocks.
//
// Rows (outputs) are grouped in panels of 16; inside a panel the inputs run along, so that one
// vector of 16 lanes holds the same input of 16 outputs and every output is one accumulator chain
// over K in ascending order. That order is the definition of a matrix product here: it does not
// depend on the number of tokens, on threads or on the instruction set.
//
//   float forms       record = one input k:  16 x (f32 | f16 | bf16)
//   quantised forms   record = 32 inputs:    scale[16], (min[16]), (sub_scale[2][16]), quants
//     sub-scales      two bytes a row, see SubScale
//     nibble quants   256 bytes: for g in 0..7 (4 inputs): 32 bytes, byte j = row j / 2,
//                     low nibble = input 4g + j % 2, high nibble = input 4g + 2 + j % 2
//     six-bit quants  384 bytes: for each half (16 inputs) three runs w0, w1, w2 of 32 words, word
//     j
//                     of each = row j / 2. With k the half's first input plus j % 2:
//                       w0  bits 0..5: input k       10..15: input k + 2    6..9: low 4 of k + 12
//                       w1  bits 0..5: input k + 4   10..15: input k + 6    6..9: low 4 of k + 14
//                       w2  bits 0..5: input k + 8   10..15: input k + 10   6..7: high 2 of k + 12
//                                                                           8..9: high 2 of k + 14
//     byte quants     512 bytes: for g in 0..15 (2 inputs): 32 bytes, byte j = row j / 2,
//                     input 2g + j % 2
//
// Values: w = (scale * sub_scale) * q (+ min * sub_min), q an integer, sub-scales 1 where a form
// has none; see WeightForm. Scale and min of a record are those with the sub-scale of the whole
// block multiplied in (16-bit by 6-bit numbers: exact in float32); sub-scales of halves go into the
// integer dots. Rows beyond `rows` have scale 0.
//
// Integer dots of a record are exact in 32 bits: |q_x| <= 16383 and 32 inputs, so the largest are
//   bytes, tables     16383 * 128 * 32             = 67,104,768
//   kSixBitSubScale   16383 * 32 * 16 * 128 * 2    = 2,147,352,576, 131,071 below 2^31
//   nibbles           16383 * 15 * 32; with sub-scales 16383 * 4 * 16 * 32 * 2 or less
//   sub-minimums      15 * 16383 * 16 * 2          = 7,863,840, exact as float32 too

#include <cstddef>
#include <cstdint>

namespace wl::backend {

constexpr int kPanelRows = 16;    // virtual lanes of every reduction, rows of a panel
constexpr int kBlockInputs = 32;  // inputs that share a scale, in weights and in activations

enum class WeightForm : uint8_t {
  kF32,
  kF16,
  kBF16,
  kNibble,             // Q4_0: f16 scale, q - 8
  kNibbleMin,          // Q4_1: f16 scale, f16 min
  kNibbleBlockScale,   // Q4_K: f16 scale and min, 6-bit sub-scale and sub-minimum of the block
  kByte,               // Q8_0, Q5_0: f16 scale, signed q
  kByteMin,            // Q5_1: f16 scale, f16 min
  kByteBlockScale,     // Q5_K: as kNibbleBlockScale
  kSixBitSubScale,     // Q6_K: f16 scale, signed 8-bit sub-scale for each 16 inputs, q - 32
  kNibbleSubScale,     // Q3_K: f16 scale, signed 8-bit sub-scales, q - 4
  kNibbleSubScaleMin,  // Q2_K: f16 scale and min, 4-bit sub-scales and sub-minimums
  kNibbleIq4,          // IQ4_NL, IQ4_XS: f32 scale, q through quant::kIq4Values
  kNibbleFp4,          // MXFP4: f32 scale, q through quant::kFp4Values
};
constexpr int kNumWeightForms = 14;

/// What the two bytes of a row in a record are.
enum class SubScale : uint8_t {
  kNone,
  kBlock,     // sub-scale and sub-minimum of the whole block, 0..63
  kSigned,    // int8 sub-scale of each half
  kScaleMin,  // of each half; low nibble: sub-scale, high nibble: sub-minimum
};

/// Bits of the stored integers.
enum class Quants : uint8_t { kNone = 0, kNibble = 4, kSixBit = 6, kByte = 8 };

/// Byte layout of one record of a form. Offsets are from the record's start.
struct RecordLayout {
  int inputs;       // inputs covered: 1 (float forms) or 32
  int scale_bytes;  // per row: 2 (f16), 4 (f32), 0 for float forms
  bool has_min;
  SubScale sub_scale;
  Quants quants;
  constexpr bool has_half_scales() const {
    return sub_scale == SubScale::kSigned || sub_scale == SubScale::kScaleMin;
  }
  constexpr int min_offset() const { return scale_bytes * kPanelRows; }
  constexpr int sub_scale_offset() const { return min_offset() * (has_min ? 2 : 1); }
  constexpr int quant_offset() const {
    return sub_scale_offset() + (sub_scale == SubScale::kNone ? 0 : 2 * kPanelRows);
  }
};

constexpr RecordLayout record_layout(WeightForm form) {
  switch (form) {
    case WeightForm::kF32:
    case WeightForm::kF16:
    case WeightForm::kBF16:
      return {1, 0, false, SubScale::kNone, Quants::kNone};
    case WeightForm::kNibble:
      return {kBlockInputs, 2, false, SubScale::kNone, Quants::kNibble};
    case WeightForm::kNibbleMin:
      return {kBlockInputs, 2, true, SubScale::kNone, Quants::kNibble};
    case WeightForm::kNibbleBlockScale:
      return {kBlockInputs, 2, true, SubScale::kBlock, Quants::kNibble};
    case WeightForm::kByte:
      return {kBlockInputs, 2, false, SubScale::kNone, Quants::kByte};
    case WeightForm::kByteMin:
      return {kBlockInputs, 2, true, SubScale::kNone, Quants::kByte};
    case WeightForm::kByteBlockScale:
      return {kBlockInputs, 2, true, SubScale::kBlock, Quants::kByte};
    case WeightForm::kSixBitSubScale:
      return {kBlockInputs, 2, false, SubScale::kSigned, Quants::kSixBit};
    case WeightForm::kNibbleSubScale:
      return {kBlockInputs, 2, false, SubScale::kSigned, Quants::kNibble};
    case WeightForm::kNibbleSubScaleMin:
      return {kBlockInputs, 2, true, SubScale::kScaleMin, Quants::kNibble};
    case WeightForm::kNibbleIq4:
    case WeightForm::kNibbleFp4:
      return {kBlockInputs, 4, false, SubScale::kNone, Quants::kNibble};
  }
  return {};
}

constexpr bool is_quantized(WeightForm form) { return form > WeightForm::kBF16; }

constexpr int record_bytes(WeightForm form) {
  if (form == WeightForm::kF32) return 4 * kPanelRows;
  if (!is_quantized(form)) return 2 * kPanelRows;
  const RecordLayout layout = record_layout(form);
  return layout.quant_offset() + kPanelRows * kBlockInputs * static_cast<int>(layout.quants) / 8;
}

/// A packed matrix [rows, cols]; the bytes belong to whoever packed it.
struct Weight {
  WeightForm form = WeightForm::kF32;
  int rows = 0;                     // outputs
  int cols = 0;                     // inputs; a multiple of 32 in quantised forms
  const uint8_t* panels = nullptr;  // 64-byte aligned
  int num_panels() const { return (rows + kPanelRows - 1) / kPanelRows; }
  int num_records() const { return cols / record_layout(form).inputs; }
  size_t panel_bytes() const {
    return static_cast<size_t>(num_records()) * static_cast<size_t>(record_bytes(form));
  }
  size_t num_bytes() const { return panel_bytes() * static_cast<size_t>(num_panels()); }
};

}  // namespace wl::backend
