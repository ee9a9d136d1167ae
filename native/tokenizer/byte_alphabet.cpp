#include "tokenizer/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace wl::tokenizer {

namespace {

constexpr size_t kAlphabetEnd = 256 + 68;
constexpr int16_t kNoByte = -1;

constexpr bool stands_for_itself(size_t byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

constexpr std::array<int16_t, kAlphabetEnd> make_bytes() {
  std::array<int16_t, kAlphabetEnd> bytes{};
  bytes.fill(kNoByte);
  size_t next = 256;
  for (size_t byte = 0; byte < 256; ++byte) {
    bytes[stands_for_itself(byte) ? byte : next++] = static_cast<int16_t>(byte);
  }
  return bytes;
}

constexpr std::array<int16_t, kAlphabetEnd> kBytes = make_bytes();

}  // namespace

bool append_bytes_of_alphabet(std::string_view text, std::string* out) {
  const size_t start = out->size();
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = char_at(text, at);
    if (c.code_point >= kAlphabetEnd || kBytes[c.code_point] == kNoByte) {
      out->resize(start);
      return false;
    }
    out->push_back(static_cast<char>(kBytes[c.code_point]));
    at += c.num_bytes;
  }
  return true;
}

}  // namespace wl::tokenizer
