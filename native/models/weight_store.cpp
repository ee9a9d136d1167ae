#include "models/weight_store.h"

#include <map>
#include <mutex>

#include "base/file_identity.h"

namespace wl::models {

namespace {

struct Entry {
  std::mutex packing;  // held while the first engine packs
  std::weak_ptr<const DecoderWeights> weights;
};

/// Process state, never destroyed: worker threads may end after static destructors ran.
struct Store {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Entry>> entries;
};

Store& store() {
  static Store* instance = new Store;
  return *instance;
}

std::shared_ptr<Entry> entry_for(const std::string& key) {
  const std::lock_guard<std::mutex> lock(store().mutex);
  std::shared_ptr<Entry>& entry = store().entries[key];
  if (entry == nullptr) entry = std::make_shared<Entry>();
  return entry;
}

}  // namespace

std::string PackingOptions::key() const {
  return form + (quantization ? std::string("|") + dtype_traits(*quantization).name : "");
}

Result<std::shared_ptr<const DecoderWeights>> shared_decoder_weights(const std::string& path,
                                                                     const PackingOptions& options,
                                                                     backend::Backend& backend) {
  const std::shared_ptr<Entry> entry = entry_for(file_identity(path) + '\n' + options.key());
  const std::lock_guard<std::mutex> lock(entry->packing);
  if (auto weights = entry->weights.lock()) return weights;
  auto loaded = load_decoder_weights(path, options.quantization, backend);
  if (loaded.ok()) entry->weights = loaded.value();
  return loaded;
}

}  // namespace wl::models
