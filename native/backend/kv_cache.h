#pragma once
// Layout of the KV cache tensors. A block holds 16 consecutive positions of one sequence.
//
//   k [num_blocks][num_layers][num_kv_heads][head_dim][16]      keys of a block side by side, so
//                                                               that one vector is one input of 16
//                                                               keys
//   v [num_blocks][num_layers][num_kv_heads][16][value_stride]  value_stride = head_dim rounded up
//                                                               to 16; the padding is zero
//
// kQ8_0: elements are int8, and behind those of a head in a block lie their scales, float32
// [blocks of 32 inputs of head_dim, the last may be shorter][16 slots]. An element's value is
// float(q) * scale, rounded; q = round_to_even(x * (127 / amax)), scale = amax / 127, amax the
// largest |x| of the 32. A block of zeros has scale 0, one with NaN or infinity has scale NaN.
//
// All layers of a block lie together: a block is copied in one piece, and a fresh cache touches
// (and the system zeroes) only the pages of blocks in use, not one page for each layer. K is stored
// after rotation: a block is valid for its absolute positions only.

#include <cstddef>
#include <cstdint>

namespace wl::backend {

constexpr int kKvBlockSize = 16;

enum class KvDType : uint8_t { kF16, kF32, kQ8_0 };
constexpr int kKvScaleInputs = 32;  // inputs of head_dim that share a scale, of kQ8_0

/// The cache of one engine; the bytes belong to whoever made it.
struct KvCache {
  KvDType dtype = KvDType::kF16;
  int num_layers = 0;
  int num_blocks = 0;
  int num_kv_heads = 0;
  int head_dim = 0;
  uint8_t* k = nullptr;
  uint8_t* v = nullptr;

  size_t elem_bytes() const {
    if (dtype == KvDType::kQ8_0) return 1;
    return dtype == KvDType::kF16 ? 2 : 4;
  }
  int value_stride() const { return (head_dim + 15) / 16 * 16; }
  int num_scales() const {
    return dtype == KvDType::kQ8_0 ? (head_dim + kKvScaleInputs - 1) / kKvScaleInputs : 0;
  }
  /// Bytes of the elements of K (or V) of one head in one block; kQ8_0 has the scales there.
  size_t k_element_bytes() const {
    return static_cast<size_t>(head_dim) * kKvBlockSize * elem_bytes();
  }
  size_t v_element_bytes() const {
    return static_cast<size_t>(value_stride()) * kKvBlockSize * elem_bytes();
  }
  /// Bytes of K (or V) of one head in one block.
  size_t k_head_bytes() const { return k_element_bytes() + scale_bytes(); }
  size_t v_head_bytes() const { return v_element_bytes() + scale_bytes(); }
  uint8_t* k_block(int layer, int block, int kv_head) const {
    return k + head_index(block, layer, kv_head) * k_head_bytes();
  }
  uint8_t* v_block(int layer, int block, int kv_head) const {
    return v + head_index(block, layer, kv_head) * v_head_bytes();
  }
  /// Bytes of K (or V) of one block, all layers and heads.
  size_t k_block_bytes() const { return head_index(1, 0, 0) * k_head_bytes(); }
  size_t v_block_bytes() const { return head_index(1, 0, 0) * v_head_bytes(); }
  /// Bytes of all K (or V).
  size_t k_bytes() const { return head_index(num_blocks, 0, 0) * k_head_bytes(); }
  size_t v_bytes() const { return head_index(num_blocks, 0, 0) * v_head_bytes(); }

 private:
  size_t scale_bytes() const {
    return static_cast<size_t>(num_scales()) * kKvBlockSize * sizeof(float);
  }
  size_t head_index(int block, int layer, int kv_head) const {
    return (static_cast<size_t>(block) * static_cast<size_t>(num_layers) +
            static_cast<size_t>(layer)) *
               static_cast<size_t>(num_kv_heads) +
           static_cast<size_t>(kv_head);
  }
};

}  // namespace wl::backend
