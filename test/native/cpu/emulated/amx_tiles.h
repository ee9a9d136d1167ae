#pragma once
// The AMX intrinsics that cpu/amx uses, with tiles as plain arrays, so that its kernels are checked
// bit for bit on CPUs that lack them. Include it before cpu/amx/linear_amx.h: the macros at the end
// put these in the place of the compiler's own. Like the CPU, they go by the rows and the bytes of
// a row that were configured, and hold zeros beyond; a tile that does not fit another ends the
// program.

#include <immintrin.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace wl::cpu {
namespace {

class EmulatedTiles {
 public:
  static constexpr int kRows = 16, kRowBytes = 64;

  void configure(const void* operand) {
    const auto* bytes = static_cast<const uint8_t*>(operand);
    require(bytes[0] == 1 && bytes[1] == 0);
    for (int t = 0; t < kTiles; ++t) {
      uint16_t row_bytes;
      std::memcpy(&row_bytes, bytes + 16 + 2 * t, sizeof(row_bytes));
      tiles_[t] = {bytes[48 + t], row_bytes, {}};
      require(tiles_[t].rows <= kRows && row_bytes <= kRowBytes);
    }
  }
  void release() {
    for (Tile& tile : tiles_) tile = {};
  }
  void zero(int t) { std::memset(used(t).bytes, 0, sizeof(Tile::bytes)); }
  void load(int t, const void* from, int64_t stride) {
    Tile& tile = used(t);
    std::memset(tile.bytes, 0, sizeof(tile.bytes));
    for (int r = 0; r < tile.rows; ++r) {
      std::memcpy(tile.bytes[r], static_cast<const uint8_t*>(from) + r * stride, tile.row_bytes);
    }
  }
  void store(int t, void* to, int64_t stride) {
    const Tile& tile = used(t);
    for (int r = 0; r < tile.rows; ++r) {
      std::memcpy(static_cast<uint8_t*>(to) + r * stride, tile.bytes[r], tile.row_bytes);
    }
  }
  /// C[m][n] += the four products of signed bytes A[m][4k..] and B[k][4n..], over k.
  void multiply_signed(int c, int a, int b) {
    Tile &sum = used(c), &left = used(a), &right = used(b);
    require(sum.rows == left.rows && sum.row_bytes == right.row_bytes);
    require(left.row_bytes == 4 * right.rows);
    for (int m = 0; m < sum.rows; ++m) {
      for (int n = 0; n < sum.row_bytes / 4; ++n) {
        int32_t dot;
        std::memcpy(&dot, sum.bytes[m] + 4 * n, sizeof(dot));
        for (int k = 0; k < left.row_bytes; ++k) {
          const auto x = static_cast<int8_t>(left.bytes[m][k]);
          dot += x * static_cast<int8_t>(right.bytes[k / 4][4 * n + k % 4]);
        }
        std::memcpy(sum.bytes[m] + 4 * n, &dot, sizeof(dot));
      }
    }
  }

 private:
  static constexpr int kTiles = 8;
  struct Tile {
    int rows = 0;
    int row_bytes = 0;
    uint8_t bytes[kRows][kRowBytes] = {};
  };

  static void require(bool holds) {
    if (!holds) std::abort();
  }
  Tile& used(int t) {
    require(tiles_[t].rows > 0);
    return tiles_[t];
  }

  Tile tiles_[kTiles];
};

thread_local EmulatedTiles emulated_tiles;

}  // namespace
}  // namespace wl::cpu

#undef _tile_dpbssd
#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#define _tile_loadconfig emulated_tiles.configure
#define _tile_release emulated_tiles.release
#define _tile_zero emulated_tiles.zero
#define _tile_loadd emulated_tiles.load
#define _tile_stored emulated_tiles.store
#define _tile_dpbssd emulated_tiles.multiply_signed
