#include "engine/open_engine.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "engine/decoder_runner.h"
#include "kv/kv_sizing.h"
#include "models/inspect.h"
#include "models/layers/rope_tables.h"
#include "models/weight_store.h"

namespace wl::engine {

namespace {

/// Root of the block hashes: everything beside the tokens that KV values depend on.
std::string fingerprint(const OpenOptions& options, const models::PackingOptions& packing,
                        const models::ModelConfig& config, int context) {
  return options.model_path + "|" + packing.key() + "|" + config.arch + "|" +
         std::to_string(config.num_layers) + "|kv" +
         std::to_string(static_cast<int>(options.kv_type)) + "|act" +
         std::to_string(static_cast<int>(options.activations)) +
         models::rope_choice(config, context);
}

kv::KvSizing kv_sizing(const OpenOptions& options, const models::ModelConfig& config) {
  kv::KvSizing sizing;
  for (const models::KvGroup& group : models::kv_layout(config).groups) {
    const backend::KvCache block = models::kv_cache_shape(config, group, options.kv_type, 1);
    sizing.groups.push_back(
        {group.window, static_cast<int64_t>(block.k_bytes() + block.v_bytes())});
  }
  sizing.block_size = backend::kKvBlockSize;
  sizing.max_running = options.engine.max_running;
  sizing.max_batch_tokens = options.engine.max_batch_tokens;
  return sizing;
}

struct KvSize {
  std::vector<int> num_blocks;  // of each group
  int max_context_tokens = 0;
  int64_t bytes = 0;
};

Result<int> wanted_context(const OpenOptions& options, const models::ModelConfig& config) {
  const int wanted = options.max_context_tokens > 0 ? options.max_context_tokens : config.context;
  if (wanted <= config.context) return wanted;
  return Error{ErrorCode::kInvalidArgument, "a context of " + std::to_string(wanted) +
                                                " tokens is more than the model's " +
                                                std::to_string(config.context)};
}

/// A context that the user asked for must fit the memory; the model's own is cut to what fits.
Result<KvSize> size_kv(const OpenOptions& options, const models::ModelConfig& config) {
  const auto context = wanted_context(options, config);
  if (!context.ok()) return context.error();
  const int wanted = context.value();
  const kv::KvSizing sizing = kv_sizing(options, config);
  KvSize size;
  size.num_blocks = kv::split_kv_memory(sizing, options.kv_memory_bytes, wanted);
  const int64_t tokens = kv::max_sequence_tokens(sizing, size.num_blocks);
  if (size.num_blocks[0] < 2 || (options.max_context_tokens > 0 && tokens < wanted)) {
    return Error{ErrorCode::kModelMemory,
                 "KV memory of " + std::to_string(options.kv_memory_bytes >> 20) + " MiB holds " +
                     std::to_string(tokens) + " tokens; " + std::to_string(wanted) +
                     " tokens of context need " +
                     std::to_string((kv::min_kv_bytes(sizing, wanted) >> 20) + 1) + " MiB"};
  }
  size.max_context_tokens = static_cast<int>(std::min<int64_t>(wanted, tokens));
  for (size_t g = 0; g < sizing.groups.size(); ++g) {
    size.bytes += size.num_blocks[g] * sizing.groups[g].block_bytes;
  }
  return size;
}

Result<std::unique_ptr<Engine>> open(const OpenOptions& options, StepSink sink, EngineInfo* info) {
  auto backend = backend::open_cpu_backend({options.isa, options.threads, options.activations});
  if (!backend.ok()) return backend.error();
  const std::string isa = backend.value()->ops().isa_name();
  const models::PackingOptions packing = {
      options.activations == backend::Activations::kFloat ? "float32" : "packed",
      options.quantization};
  auto weights = models::shared_decoder_weights(options.model_path, packing, *backend.value());
  if (!weights.ok()) return weights.error();
  const models::ModelConfig& config = weights.value()->config;
  const auto kv_size = size_kv(options, config);
  if (!kv_size.ok()) return kv_size.error();
  auto runner = DecoderRunner::create(std::move(backend).value(), weights.value(),
                                      kv_size.value().max_context_tokens, options.kv_type,
                                      kv_size.value().num_blocks);
  if (!runner.ok()) return runner.error();

  EngineConfig engine = options.engine;
  engine.max_context_tokens = kv_size.value().max_context_tokens;
  engine.fingerprint = fingerprint(options, packing, config, engine.max_context_tokens);
  *info = {config.arch,
           isa,
           config.num_layers,
           config.hidden,
           config.vocab,
           engine.max_context_tokens,
           kv_size.value().num_blocks[0],
           options.threads,
           static_cast<int64_t>(weights.value()->panels.size()),
           kv_size.value().bytes};
  return std::make_unique<Engine>(std::move(runner).value(), engine, std::move(sink));
}

}  // namespace

Result<int64_t> min_kv_bytes(const OpenOptions& options) {
  const auto inspection = models::inspect_model(options.model_path);
  if (!inspection.ok()) return inspection.error();
  if (!inspection.value().refusals.empty()) return inspection.value().refusals.front();
  const models::ModelConfig& config = inspection.value().config;
  const auto context = wanted_context(options, config);
  if (!context.ok()) return context.error();
  return kv::min_kv_bytes(kv_sizing(options, config), context.value());
}

Result<std::unique_ptr<Engine>> open_engine(const OpenOptions& options, StepSink sink,
                                            EngineInfo* info) {
  try {
    return open(options, std::move(sink), info);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kModelMemory, "no memory for the buffers of a step"};
  } catch (const std::system_error& error) {
    // The stack of a thread is memory too; a limit on threads looks the same.
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    return Error{ErrorCode::kModelMemory, "no memory for another thread, or too many threads"};
  }
}

}  // namespace wl::engine
