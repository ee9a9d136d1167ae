#include "tokenizer/space_cutter.h"

#include "base/utf8.h"
#include "tokenizer/text_rewriter.h"

namespace wl::tokenizer {

namespace {

constexpr uint32_t kMark = 0x2581;

uint32_t code_point_before(std::string_view text, size_t pos) {
  return char_at(text, char_before(text, pos)).code_point;
}

}  // namespace

void SpaceCutter::learn(std::string_view token) {
  for (size_t at = token.find(kSpaceMark); at != std::string_view::npos;
       at = token.find(kSpaceMark, at + kSpaceMark.size())) {
    if (at > 0) joined_.insert(code_point_before(token, at));
  }
}

void SpaceCutter::cut(std::string_view text, std::vector<Piece>* pieces) const {
  std::vector<Piece> parts;
  for (Piece piece : *pieces) {
    const std::string_view part = text.substr(0, piece.end);
    const size_t step = kSpaceMark.size();
    for (size_t at = part.find(kSpaceMark, piece.start + 1); at != std::string_view::npos;
         at = part.find(kSpaceMark, at + step)) {
      const uint32_t before = code_point_before(part, at);
      if (before == kMark || joined_.contains(before)) continue;
      parts.push_back({piece.start, static_cast<uint32_t>(at)});
      piece.start = static_cast<uint32_t>(at);
    }
    parts.push_back(piece);
  }
  pieces->swap(parts);
}

}  // namespace wl::tokenizer
