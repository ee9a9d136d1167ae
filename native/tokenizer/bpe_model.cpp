#include "tokenizer/bpe_model.h"

#include <algorithm>
#include <functional>
#include <string>

#include "base/utf8.h"

namespace wl::tokenizer {

namespace {

// Up to here scanning all pairs for the lowest rank beats a heap; almost every word is shorter.
constexpr size_t kMaxShortSymbols = 32;
constexpr uint32_t kNone = 0xffffffff;

}  // namespace

void BpeScratch::encode(const BpeModel& model, std::string_view piece, std::vector<TokenId>* out) {
  if (piece.empty()) return;
  if (const auto cached = cache_.find(piece); !cached.empty()) {
    out->insert(out->end(), cached.begin(), cached.end());
    return;
  }
  symbols_.clear();
  const auto whole = model.ignore_merges ? model.vocabulary.find(piece) : std::nullopt;
  if (whole) {
    symbols_.push_back(*whole);
  } else {
    split(model, piece);
    if (symbols_.size() <= kMaxShortSymbols) {
      merge_short(model);
    } else {
      merge_long(model);
    }
  }
  cache_.put(piece, symbols_);
  out->insert(out->end(), symbols_.begin(), symbols_.end());
}

void BpeScratch::split(const BpeModel& model, std::string_view piece) {
  if (model.symbols == BpeModel::Symbols::kCharacters) return split_characters(model, piece);
  for (const char byte : piece) {
    if (const auto id = model.byte_tokens[static_cast<unsigned char>(byte)]) {
      symbols_.push_back(*id);
    } else {
      push_unknown(model);
    }
  }
}

void BpeScratch::split_characters(const BpeModel& model, std::string_view piece) {
  for (size_t at = 0; at < piece.size();) {
    const std::string_view character = piece.substr(at, char_at(piece, at).num_bytes);
    at += character.size();
    if (const auto id = model.vocabulary.find(character)) {
      symbols_.push_back(*id);
      continue;
    }
    const auto byte_token = [&](char byte) {
      return model.byte_tokens[static_cast<unsigned char>(byte)];
    };
    if (std::ranges::all_of(character, [&](char byte) { return byte_token(byte).has_value(); })) {
      for (const char byte : character) symbols_.push_back(*byte_token(byte));
    } else {
      push_unknown(model);
    }
  }
}

void BpeScratch::push_unknown(const BpeModel& model) {
  if (!model.unknown) return;
  if (model.fuses_unknown && !symbols_.empty() && symbols_.back() == *model.unknown) return;
  symbols_.push_back(*model.unknown);
}

void BpeScratch::merge_short(const BpeModel& model) {
  if (symbols_.size() < 2) return;
  pairs_.clear();
  for (size_t i = 0; i + 1 < symbols_.size(); ++i) {
    pairs_.push_back(model.merges.find(symbols_[i], symbols_[i + 1]));
  }
  while (!pairs_.empty()) {
    const auto best = std::ranges::min_element(pairs_, {}, &Merge::rank);
    if (best->rank == kNoRank) break;
    const auto i = static_cast<size_t>(best - pairs_.begin());
    symbols_[i] = best->joined;
    symbols_.erase(symbols_.begin() + static_cast<ptrdiff_t>(i) + 1);
    pairs_.erase(best);
    if (i < pairs_.size()) pairs_[i] = model.merges.find(symbols_[i], symbols_[i + 1]);
    if (i > 0) pairs_[i - 1] = model.merges.find(symbols_[i - 1], symbols_[i]);
  }
}

/// Symbols stay where they are, linked; a joined pair lives on at its left symbol's index. Queue
/// entries whose rank is no longer that of their pair are stale.
void BpeScratch::merge_long(const BpeModel& model) {
  const auto count = static_cast<uint32_t>(symbols_.size());
  next_.resize(count);
  previous_.resize(count);
  pairs_.assign(count, Merge{});
  queue_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    previous_[i] = i > 0 ? i - 1 : kNone;
    next_[i] = i + 1 < count ? i + 1 : kNone;
    if (i + 1 < count) rank_pair(model, i, i + 1);
  }
  while (!queue_.empty()) {
    std::ranges::pop_heap(queue_, std::greater{});
    const auto left = static_cast<uint32_t>(queue_.back());
    const auto rank = static_cast<uint32_t>(queue_.back() >> 32);
    queue_.pop_back();
    if (pairs_[left].rank != rank) continue;
    const uint32_t right = next_[left];
    symbols_[left] = pairs_[left].joined;
    pairs_[left] = pairs_[right] = Merge{};
    next_[left] = next_[right];
    if (next_[left] != kNone) {
      previous_[next_[left]] = left;
      rank_pair(model, left, next_[left]);
    }
    if (previous_[left] != kNone) rank_pair(model, previous_[left], left);
  }
  size_t kept = 0;
  for (uint32_t i = 0; i != kNone; i = next_[i]) symbols_[kept++] = symbols_[i];
  symbols_.resize(kept);
}

void BpeScratch::rank_pair(const BpeModel& model, uint32_t left, uint32_t right) {
  pairs_[left] = model.merges.find(symbols_[left], symbols_[right]);
  if (pairs_[left].rank == kNoRank) return;
  queue_.push_back(uint64_t{pairs_[left].rank} << 32 | left);
  std::ranges::push_heap(queue_, std::greater{});
}

}  // namespace wl::tokenizer
