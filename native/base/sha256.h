#pragma once
// SHA-256 over a stream of bytes. Source: FIPS 180-4, sections 4.1.2, 5 and 6.2.

#include <array>
#include <cstddef>
#include <cstdint>

namespace wl {

using Sha256Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  void update(const void* bytes, size_t num_bytes);
  /// Digest of everything that was fed; the object is spent afterwards.
  Sha256Digest finish();

 private:
  void compress(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> buffer_{};
  size_t num_buffered_ = 0;
  uint64_t num_total_ = 0;
};

}  // namespace wl
