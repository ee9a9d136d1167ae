// Rotation tables: the factors of a longrope follow the engine's context, and what cached keys
// depend on says so.

#include "models/layers/rope_tables.h"

#include "check.h"

using wl::models::ModelConfig;
using wl::models::RopeConfig;

namespace {

RopeConfig plain_rope() {
  RopeConfig rope;
  rope.rotary_dims = 4;
  rope.inv_freq = {1.0f, 0.01f};
  return rope;
}

RopeConfig long_rope() {
  RopeConfig rope = plain_rope();
  rope.short_factors = {1.0f, 2.0f};
  rope.long_factors = {4.0f, 8.0f};
  rope.original_context = 128;
  return rope;
}

ModelConfig model_with(std::vector<RopeConfig> ropes) {
  ModelConfig config;
  config.ropes = std::move(ropes);
  return config;
}

}  // namespace

WL_TEST("rope tables: long factors serve contexts beyond the original one only") {
  WL_CHECK(!wl::models::uses_long_factors(long_rope(), 128));
  WL_CHECK(wl::models::uses_long_factors(long_rope(), 129));
  WL_CHECK(!wl::models::uses_long_factors(plain_rope(), 1 << 20));
}

WL_TEST("rope tables: keys of the two factors never meet, and other models have one kind") {
  const ModelConfig with_factors = model_with({long_rope()});
  WL_CHECK(wl::models::rope_choice(with_factors, 128) !=
           wl::models::rope_choice(with_factors, 129));
  WL_CHECK(wl::models::rope_choice(with_factors, 200) ==
           wl::models::rope_choice(with_factors, 4096));
  WL_CHECK(wl::models::rope_choice(model_with({plain_rope()}), 4096).empty());
}
