#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <limits>

namespace wl {

constexpr size_t kHugePageBytes = size_t{2} << 20;

bool AlignedBuffer::allocate(size_t num_bytes) {
  reset();
  if (num_bytes == 0) return true;
  if (num_bytes > std::numeric_limits<size_t>::max() - 2 * kHugePageBytes) return false;
  const size_t mapped = num_bytes + kHugePageBytes;
  void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return false;
  const auto address = reinterpret_cast<uintptr_t>(mapping);
  data_ = reinterpret_cast<uint8_t*>((address + kHugePageBytes - 1) & ~(kHugePageBytes - 1));
  // A hint: without huge pages everything works, only slower.
  (void)madvise(data_, num_bytes, MADV_HUGEPAGE);
  size_ = num_bytes;
  mapping_ = mapping;
  mapped_bytes_ = mapped;
  return true;
}

void AlignedBuffer::reset() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
  data_ = nullptr;
  mapping_ = nullptr;
  size_ = mapped_bytes_ = 0;
}

}  // namespace wl
