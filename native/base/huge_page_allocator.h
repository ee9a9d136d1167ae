#pragma once
// For large tables that are read at random places: on 2 MiB pages, where the system gives them, a
// look-up misses the data cache but not the page tables too. Small tables are ordinary memory.

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace wl {

/// An allocator for std::vector.
template <class T>
class HugePageAllocator {
 public:
  using value_type = T;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(size_t count) {
    const size_t num_bytes = count * sizeof(T);  // the vector's max_size() keeps it in range
    if (num_bytes < kHugePageBytes) return static_cast<T*>(::operator new(num_bytes));
    void* const memory = ::operator new(num_bytes, std::align_val_t(kHugePageBytes));
    // A hint: without huge pages everything works, only slower.
    (void)madvise(memory, num_bytes & ~(kHugePageBytes - 1), MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, size_t count) {
    if (count * sizeof(T) < kHugePageBytes) {
      ::operator delete(memory);
    } else {
      ::operator delete(memory, std::align_val_t(kHugePageBytes));
    }
  }

  bool operator==(const HugePageAllocator&) const { return true; }

 private:
  static constexpr size_t kHugePageBytes = size_t{2} << 20;
};

}  // namespace wl
