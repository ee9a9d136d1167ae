#include "base/sha256.h"

#include <string>

#include "check.h"

using wl::Sha256;

static std::string hex(const wl::Sha256Digest& digest) {
  std::string out;
  for (const uint8_t byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

static std::string sha256(const std::string& text) {
  Sha256 sha;
  sha.update(text.data(), text.size());
  return hex(sha.finish());
}

WL_TEST("sha256: the examples of FIPS 180") {
  WL_CHECK_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  WL_CHECK_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  WL_CHECK_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  WL_CHECK_EQ(sha256(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

WL_TEST("sha256: where the input is cut does not matter") {
  const std::string text(200, 'x');
  for (size_t cut = 0; cut <= text.size(); cut += 7) {
    Sha256 sha;
    sha.update(text.data(), cut);
    sha.update(text.data() + cut, text.size() - cut);
    WL_CHECK_EQ(hex(sha.finish()), sha256(text));
  }
}
