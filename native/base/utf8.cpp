#include "base/utf8.h"

namespace wl {

namespace {

/// Bytes of the sequence that starts with `lead`, or 0 when no sequence starts so.
size_t sequence_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

/// The second byte's narrower range after E0, ED, F0 and F4 (overlong, surrogate, too large).
bool is_valid_second(unsigned char lead, unsigned char second) {
  if (lead == 0xe0) return second >= 0xa0;
  if (lead == 0xed) return second < 0xa0;
  if (lead == 0xf0) return second >= 0x90;
  if (lead == 0xf4) return second < 0x90;
  return true;
}

}  // namespace

Utf8Char char_at(std::string_view text, size_t pos) {
  const auto lead = static_cast<unsigned char>(text[pos]);
  if (lead < 0x80) return {lead, 1};
  const size_t num_bytes = sequence_bytes(lead);
  if (num_bytes == 0 || pos + num_bytes > text.size()) return {kNoCharacter, 1};
  uint32_t code_point = lead & (0x7fu >> num_bytes);
  for (size_t k = 1; k < num_bytes; ++k) {
    const auto byte = static_cast<unsigned char>(text[pos + k]);
    if ((byte & 0xc0) != 0x80) return {kNoCharacter, 1};
    if (k == 1 && !is_valid_second(lead, byte)) return {kNoCharacter, 1};
    code_point = (code_point << 6) | (byte & 0x3f);
  }
  return {code_point, static_cast<uint32_t>(num_bytes)};
}

size_t char_before(std::string_view text, size_t pos) {
  const auto is_continuation = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
  };
  size_t start = pos - 1;
  while (start > 0 && pos - start < 4 && is_continuation(text[start])) --start;
  return start + char_at(text, start).num_bytes == pos ? start : pos - 1;
}

bool is_valid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = char_at(text, i);
    if (c.code_point == kNoCharacter) return false;
    i += c.num_bytes;
  }
  return true;
}

void append_utf8(uint32_t code_point, std::string* out) {
  const auto push = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xc0 | (code_point >> 6));
    push(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    push(0xe0 | (code_point >> 12));
    push(0x80 | ((code_point >> 6) & 0x3f));
    push(0x80 | (code_point & 0x3f));
  } else {
    push(0xf0 | (code_point >> 18));
    push(0x80 | ((code_point >> 12) & 0x3f));
    push(0x80 | ((code_point >> 6) & 0x3f));
    push(0x80 | (code_point & 0x3f));
  }
}

}  // namespace wl
