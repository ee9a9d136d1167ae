#pragma once
// Layout of the KV cache tensors. A block holds 16 consecutive positions of one sequence.
//
//   k [num_blocks][num_layers][num_kv_heads][head_dim][16]      keys of a block side by side, so
//   that
//                                                               one vector is one input of 16 keys
//   v [num_blocks][num_layers][num_kv_heads][16][value_stride]  value_stride = head_dim rounded up
//   to
//                                                               16; the padding is zero
// All layers of a block lie together: a block is copied in one piece, and a fresh cache touches
// (and the system zeroes) only the pages of blocks in use, not one page for each layer. K is stored
// after rotation: a block is valid for its absolute positions only.

#include <cstddef>
#include <cstdint>

namespace wl::backend {

constexpr int kKvBlockSize = 16;

enum class KvDType : uint8_t { kF16, kF32 };

/// The cache of one engine; the bytes belong to whoever made it.
struct KvCache {
  KvDType dtype = KvDType::kF16;
  int num_layers = 0;
  int num_blocks = 0;
  int num_kv_heads = 0;
  int head_dim = 0;
  uint8_t* k = nullptr;
  uint8_t* v = nullptr;

  size_t elem_bytes() const { return dtype == KvDType::kF16 ? 2 : 4; }
  int value_stride() const { return (head_dim + 15) / 16 * 16; }
  /// Bytes of K (or V) of one head in one block.
  size_t k_head_bytes() const {
    return static_cast<size_t>(head_dim) * kKvBlockSize * elem_bytes();
  }
  size_t v_head_bytes() const {
    return static_cast<size_t>(value_stride()) * kKvBlockSize * elem_bytes();
  }
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
  size_t head_index(int block, int layer, int kv_head) const {
    return (static_cast<size_t>(block) * static_cast<size_t>(num_layers) +
            static_cast<size_t>(layer)) *
               static_cast<size_t>(num_kv_heads) +
           static_cast<size_t>(kv_head);
  }
};

}  // namespace wl::backend
