#pragma once
// Ops on the CPU: splits each op over the thread pool and calls the kernels of one instruction set.
// Owns the scratch memory of one engine; used by that engine's thread only.

#include <cstdint>
#include <vector>

#include "backend/ops.h"
#include "cpu/kernels.h"

namespace wl::cpu {

class CpuOps : public backend::Ops {
 public:
  CpuOps(const KernelTable& kernels, int threads, backend::ActivationWidth width);

  const char* isa_name() const override { return kernels_.name; }
  void embed(backend::Matrix out, const backend::Weight& table, const int32_t* ids) override;
  void rms_norm(backend::Matrix out, backend::Matrix x, const float* weight, float eps) override;
  backend::LinearInput prepare_input(backend::Matrix x, bool quantize) override;
  void linear(std::span<const backend::Product> products) override;
  void rope(backend::Matrix x, int head_dim, int rotary_dims, bool is_adjacent, const float* cos,
            const float* sin) override;
  void store_kv(const backend::KvCache& cache, int layer, backend::Matrix k, backend::Matrix v,
                const int32_t* slot_mapping) override;
  void paged_attention(backend::Matrix out, backend::Matrix q, const backend::KvCache& cache,
                       int layer, const backend::AttentionParams& params,
                       const backend::AttentionBatch& batch) override;
  void gated_mlp(backend::Matrix gate, backend::Matrix up, const backend::MlpGate& how) override;
  void add(backend::Matrix x, backend::Matrix y, float scale) override;
  void scale(backend::Matrix x, float factor) override;
  void soft_cap(backend::Matrix x, float cap) override;
  void route_experts(backend::Matrix scores, const backend::ExpertRouting& routing,
                     int32_t* experts, float* weights) override;
  void gather_rows(backend::Matrix out, backend::Matrix x, const int32_t* rows) override;
  void add_weighted_rows(backend::Matrix x, backend::Matrix y, int num_used, const int32_t* rows,
                         const float* weights) override;

 private:
  /// A run of query rows of one sequence for one KV head.
  struct AttentionTask {
    int seq, kv_head, first_row, num_queries;
  };
  /// body(begin, end) over parts of [0, count), on the pool or all on the calling thread.
  template <class Body>
  void over_range(int count, bool is_shared, const Body& body);
  /// The same over rows of a matrix; small ones stay on the calling thread.
  template <class Body>
  void over_rows(int rows, int64_t elements, const Body& body);
  /// body(first element, count) over parts of a matrix; parts are whole rows.
  template <class Body>
  void over_elements(backend::Matrix m, const Body& body);
  void run_panels(const backend::Product& product, int64_t before, int64_t cost_begin,
                  int64_t cost_end) const;
  void plan_attention(const backend::KvCache& cache, int group,
                      const backend::AttentionBatch& batch);

  const KernelTable& kernels_;
  int threads_;
  float levels_;
  std::vector<int16_t> input_q_;
  std::vector<int8_t> input_q8_;                    // with int8 activations
  std::vector<int8_t> input_q_high_, input_q_low_;  // with wide ones, where the kernels split them
  std::vector<float> input_scale_, input_scaled_sum_;
  std::vector<int32_t> input_sum_, input_low_sum_;
  std::vector<AttentionTask> attention_tasks_;
  std::vector<std::vector<float>> attention_scratch_;  // [threads]
};

}  // namespace wl::cpu
