#pragma once
// Finds the items of a growing list by their hashes: by looking through a short list, in a table of
// a long one.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wl::grammar {

class HashIndex {
 public:
  /// Whether `is_same(i)` holds for an item i that was added with this hash.
  template <class IsSame>
  bool contains(uint64_t hash, IsSame is_same) const {
    if (slots_.empty()) {
      for (size_t i = 0; i < hashes_.size(); ++i) {
        if (hashes_[i] == hash && is_same(i)) return true;
      }
      return false;
    }
    for (size_t slot = home(hash); slots_[slot] != kFree; slot = behind(slot)) {
      const size_t item = slots_[slot];
      if (hashes_[item] == hash && is_same(item)) return true;
    }
    return false;
  }

  /// The next item of the list.
  void add(uint64_t hash) {
    hashes_.push_back(hash);
    if (hashes_.size() <= kMaxScanned) return;
    if (hashes_.size() * 2 <= slots_.size()) return put(hashes_.size() - 1);
    slots_.assign(std::bit_ceil(hashes_.size() * 4), kFree);
    for (size_t item = 0; item < hashes_.size(); ++item) put(item);
  }

  void clear() {
    hashes_.clear();
    slots_.clear();
  }

 private:
  static constexpr size_t kMaxScanned = 16;  // fewer are found sooner without a table
  static constexpr uint32_t kFree = UINT32_MAX;

  size_t home(uint64_t hash) const { return static_cast<size_t>(hash) & (slots_.size() - 1); }
  size_t behind(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  void put(size_t item) {
    size_t slot = home(hashes_[item]);
    while (slots_[slot] != kFree) slot = behind(slot);
    slots_[slot] = static_cast<uint32_t>(item);
  }

  std::vector<uint64_t> hashes_;
  std::vector<uint32_t>
      slots_;  // items; a power of two, at most half full; empty: the list is short
};

}  // namespace wl::grammar
