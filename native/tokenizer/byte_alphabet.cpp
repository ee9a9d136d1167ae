#include "tokenizer/byte_alphabet.h"

#include <array>
#include <cstdint>

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

/// The character that `text` begins with when it has one byte or two, as all of the alphabet do;
/// kAlphabetEnd for any other.
size_t alphabet_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead;
  const bool has_two_bytes = lead >= 0xc2 && lead < 0xe0 && text.size() >= 2;
  const auto second = static_cast<unsigned char>(has_two_bytes ? text[1] : 0);
  if ((second & 0xc0) != 0x80) return kAlphabetEnd;
  return size_t{lead & 0x1fu} << 6 | (second & 0x3f);
}

}  // namespace

bool append_bytes_of_alphabet(std::string_view text, std::string* out) {
  const size_t start = out->size();
  out->resize(start + text.size());
  char* next = out->data() + start;
  for (size_t at = 0; at < text.size();) {
    const size_t code_point = alphabet_code_point(text.substr(at));
    if (code_point >= kAlphabetEnd || kBytes[code_point] == kNoByte) {
      out->resize(start);
      return false;
    }
    *next++ = static_cast<char>(kBytes[code_point]);
    at += code_point < 0x80 ? 1 : 2;
  }
  out->resize(static_cast<size_t>(next - out->data()));
  return true;
}

}  // namespace wl::tokenizer
