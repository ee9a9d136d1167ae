#include "models/weight_store.h"

#include "base/file_identity.h"
#include "base/shared_values.h"

namespace wl::models {

namespace {

/// Process state, never destroyed: worker threads may end after static destructors ran.
SharedValues<DecoderWeights>& store() {
  static auto* instance = new SharedValues<DecoderWeights>;
  return *instance;
}

}  // namespace

std::string PackingOptions::key() const {
  return form + (quantization ? std::string("|") + dtype_traits(*quantization).name : "");
}

Result<std::shared_ptr<const DecoderWeights>> shared_decoder_weights(const std::string& path,
                                                                     const PackingOptions& options,
                                                                     backend::Backend& backend) {
  return store().find_or_make(file_identity(path) + '\n' + options.key(), [&] {
    return load_decoder_weights(path, options.quantization, backend);
  });
}

}  // namespace wl::models
