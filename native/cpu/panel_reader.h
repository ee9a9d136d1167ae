#pragma once
// Scalar access to packed weights: one integer or one value at a time. The reference kernels and
// the embedding lookup are built on it; it says in code what backend/weight.h says in words.

#include <cstring>

#include "backend/weight.h"
#include "cpu/quant_values.h"
#include "quant/dequantize.h"

namespace wl::cpu {

/// One row of one panel.
class PanelRow {
 public:
  PanelRow(const backend::Weight& weight, int row)
      : form_(weight.form),
        layout_(backend::record_layout(weight.form)),
        record_bytes_(backend::record_bytes(weight.form)),
        lane_(row % backend::kPanelRows),
        panel_(weight.panels +
               static_cast<size_t>(row / backend::kPanelRows) * weight.panel_bytes()) {}

  /// Value of input k of a float form.
  float float_at(int k) const {
    const uint8_t* record = panel_ + static_cast<size_t>(k) * record_bytes_;
    if (form_ == backend::WeightForm::kF32) return read<float>(record + 4 * lane_);
    const uint16_t bits = read<uint16_t>(record + 2 * lane_);
    if (form_ == backend::WeightForm::kF16) return quant::f16_to_f32(bits);
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }

  /// Value of input k of any form.
  float value_at(int k) const {
    if (!backend::is_quantized(form_)) return float_at(k);
    const int b = k / backend::kBlockInputs, i = k % backend::kBlockInputs;
    const int half = i / kHalfInputs;
    const float scale = scale_at(b) * static_cast<float>(sub_scale_at(b, half));
    const float value = scale * static_cast<float>(quant_at(b, i));
    if (!layout_.has_min) return value;
    return value + min_at(b) * static_cast<float>(sub_min_at(b, half));
  }

  /// Integer of input k (0..31) of block b that the stored one stands for, without sub-scale.
  int quant_at(int b, int k) const {
    const uint8_t* quants = record(b) + layout_.quant_offset();
    switch (layout_.quants) {
      case backend::Quants::kNibble: {
        const int q = nibble_at(quants, k);
        return has_nibble_table(form_) ? nibble_table(form_)[q] : q - quant_centre(form_);
      }
      case backend::Quants::kSixBit:
        return six_bits_at(quants, k) - quant_centre(form_);
      default:
        return static_cast<int8_t>(quants[(k / 2) * 32 + lane_ * 2 + k % 2]);
    }
  }
  /// Scale of block b, with the sub-scale of the whole block.
  float scale_at(int b) const { return read_scale(record(b), lane_) * block_scale_at(b, 0); }
  bool has_min() const { return layout_.has_min; }
  /// The same of the minimum; 0 in forms without.
  float min_at(int b) const {
    if (!layout_.has_min) return 0;
    return read_scale(record(b) + layout_.min_offset(), lane_) * block_scale_at(b, 1);
  }
  /// Sub-scale of inputs 16 * half ... of block b; 1 in forms without.
  int sub_scale_at(int b, int half) const {
    if (!layout_.has_half_scales()) return 1;
    const uint8_t byte = sub_scale_byte(b, half);
    return layout_.sub_scale == SubScale::kSigned ? static_cast<int8_t>(byte) : byte & 15;
  }
  /// Sub-minimum of inputs 16 * half ... of block b; 1 in forms without.
  int sub_min_at(int b, int half) const {
    return layout_.sub_scale == SubScale::kScaleMin ? sub_scale_byte(b, half) >> 4 : 1;
  }

 private:
  using SubScale = backend::SubScale;
  static constexpr int kHalfInputs = backend::kBlockInputs / 2;

  template <class T>
  static T read(const uint8_t* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }
  int nibble_at(const uint8_t* quants, int k) const {
    const int byte = quants[(k / 4) * 32 + lane_ * 2 + k % 2];
    return k % 4 < 2 ? byte & 15 : byte >> 4;
  }
  int six_bits_at(const uint8_t* quants, int k) const {
    const uint8_t* words = quants + k / kHalfInputs * 192 + lane_ * 4 + k % 2 * 2;
    const auto word = [words](int run) { return int{read<uint16_t>(words + 64 * run)}; };
    const int pair = k % kHalfInputs / 2;
    if (pair < 6) return pair % 2 == 0 ? word(pair / 2) & 63 : word(pair / 2) >> 10;
    const int low = word(pair - 6) >> 6 & 15, high = word(2) >> (pair == 6 ? 6 : 8) & 3;
    return low | high << 4;
  }
  const uint8_t* record(int b) const { return panel_ + static_cast<size_t>(b) * record_bytes_; }
  uint8_t sub_scale_byte(int b, int index) const {
    return record(b)[layout_.sub_scale_offset() + index * backend::kPanelRows + lane_];
  }
  /// Sub-scale (0) or sub-minimum (1) of the whole block b; 1 in forms without.
  float block_scale_at(int b, int index) const {
    return layout_.sub_scale == SubScale::kBlock ? static_cast<float>(sub_scale_byte(b, index)) : 1;
  }
  float read_scale(const uint8_t* scales, int lane) const {
    if (layout_.scale_bytes == 4) return read<float>(scales + 4 * lane);
    return quant::f16_to_f32(read<uint16_t>(scales + 2 * lane));
  }

  backend::WeightForm form_;
  backend::RecordLayout layout_;
  int record_bytes_;
  int lane_;
  const uint8_t* panel_;
};

}  // namespace wl::cpu
