#include "engine/sequence_table.h"

#include <utility>

namespace wl::engine {

Sequence& SequenceTable::create(SequenceId id, std::string tenant_salt) {
  auto sequence = std::make_unique<Sequence>();
  sequence->id = id;
  sequence->blocks = kv_.new_sequence(std::move(tenant_salt));
  return *(sequences_[id] = std::move(sequence));
}

Sequence* SequenceTable::find(SequenceId id) {
  const auto it = sequences_.find(id);
  return it == sequences_.end() ? nullptr : it->second.get();
}

void SequenceTable::add_live(Sequence& sequence) {
  sequence.live_stamp = next_live_stamp_++;
  live_[sequence.live_stamp] = &sequence;
}

void SequenceTable::remove_live(Sequence& sequence) { live_.erase(sequence.live_stamp); }

bool SequenceTable::release_oldest_live() {
  if (live_.empty()) return false;
  Sequence& oldest = *live_.begin()->second;
  remove_live(oldest);
  erase(oldest);
  return true;
}

void SequenceTable::erase(Sequence& sequence) {
  kv_.free(sequence.blocks);
  released_.push_back(sequence.id);
  sequences_.erase(released_.back());
}

void SequenceTable::clear() {
  for (const auto& [id, sequence] : sequences_) released_.push_back(id);
  sequences_.clear();
  live_.clear();
}

std::vector<SequenceId> SequenceTable::take_released() { return std::exchange(released_, {}); }

std::vector<const kv::SequenceBlocks*> SequenceTable::block_tables() const {
  std::vector<const kv::SequenceBlocks*> tables;
  for (const auto& [id, sequence] : sequences_) tables.push_back(&sequence->blocks);
  return tables;
}

}  // namespace wl::engine
