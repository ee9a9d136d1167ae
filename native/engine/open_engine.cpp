#include "engine/open_engine.h"

#include <algorithm>

#include "engine/decoder_runner.h"
#include "models/weight_store.h"

namespace wl::engine {

namespace {

/// Root of the block hashes: everything beside the tokens that KV values depend on.
std::string fingerprint(const std::string& path, const OpenOptions& options,
                        const models::ModelConfig& config) {
  return path + "|" + config.arch + "|" + std::to_string(config.num_layers) + "|kv" +
         std::to_string(static_cast<int>(options.kv_type)) + "|act" +
         std::to_string(static_cast<int>(options.activations));
}

struct KvSize {
  int num_blocks = 0;
  int max_context_tokens = 0;
};

/// A context that the user asked for must fit the memory; the model's own is cut to what fits.
Result<KvSize> size_kv(const OpenOptions& options, const models::ModelConfig& config) {
  const backend::KvCache one_block = kv_cache_shape(config, options.kv_type, 1);
  const auto block_bytes = static_cast<int64_t>(one_block.k_bytes() + one_block.v_bytes());
  // Block ids and slots are 32-bit numbers.
  const int64_t max_blocks = (int64_t{1} << 31) / backend::kKvBlockSize - 1;
  const int64_t blocks = std::min(options.kv_memory_bytes / block_bytes, max_blocks);
  const int64_t tokens = blocks * backend::kKvBlockSize;
  const int64_t wanted =
      options.max_context_tokens > 0 ? options.max_context_tokens : config.context;
  if (wanted > config.context) {
    return Error{ErrorCode::kInvalidArgument, "a context of " + std::to_string(wanted) +
                                                  " tokens is more than the model's " +
                                                  std::to_string(config.context)};
  }
  if (blocks < 2 || (options.max_context_tokens > 0 && tokens < wanted)) {
    return Error{ErrorCode::kModelMemory,
                 "KV memory of " + std::to_string(options.kv_memory_bytes >> 20) + " MiB holds " +
                     std::to_string(tokens) + " tokens; " + std::to_string(wanted) +
                     " tokens of context need " +
                     std::to_string((wanted * block_bytes / backend::kKvBlockSize >> 20) + 1) +
                     " MiB"};
  }
  return KvSize{static_cast<int>(blocks), static_cast<int>(std::min(wanted, tokens))};
}

}  // namespace

Result<std::unique_ptr<Engine>> open_engine(const OpenOptions& options, StepSink sink,
                                            EngineInfo* info) {
  auto backend = backend::open_cpu_backend({options.isa, options.threads, options.activations});
  if (!backend.ok()) return backend.error();
  const std::string isa = backend.value()->ops().isa_name();
  const std::string form =
      options.activations == backend::Activations::kFloat ? "float32" : "packed";
  auto weights = models::shared_decoder_weights(options.model_path, form, *backend.value());
  if (!weights.ok()) return weights.error();
  const models::ModelConfig& config = weights.value()->config;
  const auto kv_size = size_kv(options, config);
  if (!kv_size.ok()) return kv_size.error();
  auto runner = DecoderRunner::create(std::move(backend).value(), weights.value(), options.kv_type,
                                      kv_size.value().num_blocks);
  if (!runner.ok()) return runner.error();

  EngineConfig engine = options.engine;
  engine.max_context_tokens = kv_size.value().max_context_tokens;
  engine.fingerprint = fingerprint(options.model_path, options, config);
  const auto shape = kv_cache_shape(config, options.kv_type, kv_size.value().num_blocks);
  *info = {config.arch,
           isa,
           config.num_layers,
           config.hidden,
           config.vocab,
           engine.max_context_tokens,
           kv_size.value().num_blocks,
           options.threads,
           static_cast<int64_t>(weights.value()->panels.size()),
           static_cast<int64_t>(shape.k_bytes() + shape.v_bytes())};
  return std::make_unique<Engine>(std::move(runner).value(), engine, std::move(sink));
}

}  // namespace wl::engine
