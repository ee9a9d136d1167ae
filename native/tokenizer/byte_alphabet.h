#pragma once
// GPT-2's printable alphabet: vocabularies of byte-level BPE spell each byte as one character.
// Printable Latin-1 stands for itself, the other 68 bytes in ascending order for code points from
// 256 on. Source: Radford et al. 2019, `bytes_to_unicode`.

#include <string>
#include <string_view>

namespace wl::tokenizer {

/// Appends the bytes that `text` spells. False, and nothing appended, when a character is not of
/// the alphabet.
bool append_bytes_of_alphabet(std::string_view text, std::string* out);

}  // namespace wl::tokenizer
