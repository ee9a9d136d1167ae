#pragma once
// GPT-2's printable alphabet: vocabularies of byte-level BPE spell each byte as one character.
// Printable Latin-1 stands for itself, the other 68 bytes in ascending order for code points from
// 256 on. Source: Radford et al. 2019, `bytes_to_unicode`.

#include <optional>
#include <string>
#include <string_view>

namespace wl::tokenizer {

/// The bytes that `text` spells; nullopt when a character is not of the alphabet.
std::optional<std::string> bytes_of_alphabet(std::string_view text);

}  // namespace wl::tokenizer
