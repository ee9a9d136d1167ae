#pragma once
// The layout of token masks (Matcher::fill_mask()): bit t % 32 of word t / 32 is token t's.

#include <cstdint>
#include <span>

#include "tokenizer/tokenizer.h"

namespace wl::grammar {

inline void set_bit(std::span<uint32_t> mask, tokenizer::TokenId token) {
  const auto at = static_cast<uint32_t>(token);
  mask[at / 32] |= 1u << (at % 32);
}

}  // namespace wl::grammar
