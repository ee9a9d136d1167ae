#pragma once
// A cursor over untrusted little-endian bytes. Every read says whether the bytes were there; a
// failed read moves nothing.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace wl::loader {

class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t size() const { return bytes_.size(); }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  template <class T>
  [[nodiscard]] bool read(T* out) {
    if (remaining() < sizeof(T)) return false;
    std::memcpy(out, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }

  /// u64 byte length, then the bytes.
  [[nodiscard]] bool read_string(std::string* out) {
    uint64_t length = 0;
    if (remaining() < sizeof length) return false;
    std::memcpy(&length, bytes_.data() + position_, sizeof length);
    if (length > remaining() - sizeof length) return false;
    const char* text = reinterpret_cast<const char*>(bytes_.data()) + position_ + sizeof length;
    out->assign(text, static_cast<size_t>(length));
    position_ += sizeof length + static_cast<size_t>(length);
    return true;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
};

}  // namespace wl::loader
