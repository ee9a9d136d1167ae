#pragma once
// All sequences of an engine, and which of them are live: idle, their blocks held softly. The
// oldest live sequence is the first to give its blocks up when memory is short; its blocks become
// ordinary cached blocks and its id is gone for good. Engine thread only.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/sequence.h"
#include "kv/kv_cache_manager.h"

namespace wl::engine {

class SequenceTable {
 public:
  explicit SequenceTable(kv::KvCacheManager& kv) : kv_(kv) {}

  Sequence& create(SequenceId id, std::string tenant_salt);
  Sequence* find(SequenceId id);
  int num_live() const { return static_cast<int>(live_.size()); }

  void add_live(Sequence& sequence);
  void remove_live(Sequence& sequence);
  /// False when there is none.
  bool release_oldest_live();
  /// Gives the blocks back and forgets the sequence. Precondition: not live, nothing pending.
  void erase(Sequence& sequence);
  /// Forgets every sequence and leaves the blocks as they are: after a failure of the engine.
  void clear();

  /// Ids erased since the last call.
  std::vector<SequenceId> take_released();
  /// Block tables of all sequences, for check_integrity().
  std::vector<const kv::SequenceBlocks*> block_tables() const;

 private:
  kv::KvCacheManager& kv_;
  std::unordered_map<SequenceId, std::unique_ptr<Sequence>> sequences_;
  std::map<uint64_t, Sequence*> live_;  // by live_stamp: oldest first
  uint64_t next_live_stamp_ = 1;
  std::vector<SequenceId> released_;
};

}  // namespace wl::engine
