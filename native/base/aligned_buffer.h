#pragma once
// A large block of memory on 2 MiB pages where the system gives them: weights and KV are read once
// a step, and fresh 4 KiB pages cost more than the read itself. Zero-filled. Move-only.

#include <cstddef>
#include <cstdint>
#include <utility>

namespace wl {

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  ~AlignedBuffer() { reset(); }
  AlignedBuffer(AlignedBuffer&& other) noexcept { swap(other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  /// False when the system has no such memory; the buffer is then empty. 0 bytes is an empty
  /// buffer.
  [[nodiscard]] bool allocate(size_t num_bytes);
  void reset();
  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void swap(AlignedBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(mapping_, other.mapping_);
  }
  uint8_t* data_ = nullptr;  // 2 MiB aligned inside the mapping
  size_t size_ = 0;
  void* mapping_ = nullptr;
  size_t mapped_bytes_ = 0;
};

}  // namespace wl
