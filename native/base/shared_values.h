#pragma once
// Values of the process that are read once and shared: the first thread that asks for a key makes
// the value, threads that ask meanwhile wait for it, later ones share it, and the last one to let
// go frees it. Thread-safe.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

namespace wl {

template <class Value>
class SharedValues {
 public:
  using Shared = std::shared_ptr<const Value>;

  /// @param make () -> Result<Shared>; a value that it could not make is tried again the next time.
  template <class Make>
  Result<Shared> find_or_make(const std::string& key, Make make) {
    const std::shared_ptr<Entry> entry = entry_for(key);
    const std::lock_guard<std::mutex> lock(entry->making);
    if (Shared value = entry->value.lock()) return value;
    Result<Shared> made = make();
    if (made.ok()) entry->value = made.value();
    return made;
  }

 private:
  struct Entry {
    std::mutex making;  // held while the first thread makes the value
    std::weak_ptr<const Value> value;
  };

  std::shared_ptr<Entry> entry_for(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[key];
    if (entry == nullptr) entry = std::make_shared<Entry>();
    return entry;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

}  // namespace wl
