#include "base/philox.h"

#include "check.h"

using Words = std::array<uint32_t, 4>;

WL_TEST("philox: the published check values") {
  WL_CHECK((wl::philox4x32_10({0, 0, 0, 0}, {0, 0}) ==
            Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  WL_CHECK((wl::philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                              {0xa4093822, 0x299f31d0}) ==
            Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}
