#include "cpu/cpu_ops.h"

#include <algorithm>

#include "cpu/expert_routing.h"
#include "cpu/kv_row.h"
#include "cpu/panel_reader.h"
#include "cpu/thread_pool.h"

namespace wl::cpu {

using backend::AttentionBatch;
using backend::kBlockInputs;
using backend::KvCache;
using backend::LinearInput;
using backend::Matrix;
using backend::Product;
using backend::Weight;

namespace {

// Below this an op costs less than handing half of it to another thread (about 1 us).
constexpr int64_t kMinSharedElements = 4096;
constexpr int64_t kMinSharedProducts = 65536;
// More tasks than threads, so that a thread that was late or slow takes fewer.
constexpr int kTasksPerThread = 4;
// Query rows of one attention task: their scores and a K block stay in the L2 cache.
constexpr int kAttentionRows = 16;

// Largest magnitudes of quantised activations.
constexpr float kWideLevels = 16383, kInt8Levels = 127;

int64_t element_count(Matrix m) { return static_cast<int64_t>(m.rows) * m.cols; }

/// Multiply-adds of one output row of a panel, at least 1.
int64_t panel_cost(const Product& product) {
  return std::max<int64_t>(1, static_cast<int64_t>(product.weight.cols) * product.input.x.rows);
}

int64_t product_cost(const Product& product) {
  return product.weight.num_panels() * panel_cost(product);
}

}  // namespace

CpuOps::CpuOps(const KernelTable& kernels, int threads, backend::ActivationWidth width)
    : kernels_(kernels),
      threads_(threads),
      levels_(width == backend::ActivationWidth::kWide ? kWideLevels : kInt8Levels),
      attention_scratch_(static_cast<size_t>(threads)) {
  ThreadPool::instance().reserve(threads);
}

template <class Body>
void CpuOps::over_range(int count, bool is_shared, const Body& body) {
  const int tasks = is_shared ? std::min(count, threads_ * kTasksPerThread) : 1;
  ThreadPool::instance().run(tasks, threads_, [&](int task, int) {
    const auto begin = static_cast<int>(static_cast<int64_t>(count) * task / tasks);
    const auto end = static_cast<int>(static_cast<int64_t>(count) * (task + 1) / tasks);
    body(begin, end);
  });
}

template <class Body>
void CpuOps::over_rows(int rows, int64_t elements, const Body& body) {
  over_range(rows, elements >= kMinSharedElements, body);
}

template <class Body>
void CpuOps::over_elements(Matrix m, const Body& body) {
  over_rows(m.rows, element_count(m), [&](int begin, int end) {
    const int64_t cols = m.cols;
    body(begin * cols, (end - begin) * cols);
  });
}

void CpuOps::embed(Matrix out, const Weight& table, const int32_t* ids) {
  for (int t = 0; t < out.rows; ++t) {
    const PanelRow row(table, ids[t]);
    float* y = out.row(t);
    for (int k = 0; k < table.cols; ++k) y[k] = row.value_at(k);
  }
}

void CpuOps::rms_norm(Matrix out, Matrix x, const float* weight, float eps) {
  over_rows(x.rows, element_count(x), [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      kernels_.rms_norm_row(out.row(r), x.row(r), weight, x.cols, eps);
    }
  });
}

LinearInput CpuOps::prepare_input(Matrix x, bool quantize) {
  LinearInput input;
  input.x = x;
  if (!quantize) return input;
  const auto elements = static_cast<size_t>(element_count(x));
  if (input_q_.size() < elements) {
    input_q_.resize(elements);
    if (levels_ <= kInt8Levels) {
      input_q8_.resize(elements);
    } else if (kernels_.splits_inputs) {
      for (auto* bytes : {&input_q_high_, &input_q_low_}) bytes->resize(elements);
    }
    for (auto* sums : {&input_sum_, &input_low_sum_}) sums->resize(elements / kBlockInputs);
    for (auto* scales : {&input_scale_, &input_scaled_sum_})
      scales->resize(elements / kBlockInputs);
  }
  const auto bytes_or_null = [](std::vector<int8_t>& v) { return v.empty() ? nullptr : v.data(); };
  const QuantizedRows out{input_q_.data(),
                          input_scale_.data(),
                          input_sum_.data(),
                          input_low_sum_.data(),
                          input_scaled_sum_.data(),
                          bytes_or_null(input_q8_),
                          bytes_or_null(input_q_high_),
                          bytes_or_null(input_q_low_)};
  over_rows(x.rows, element_count(x),
            [&](int begin, int end) { kernels_.quantize_rows(x, begin, end, levels_, out); });
  input.q = out.q;
  input.scale = out.scale;
  input.sum = out.sum;
  input.low_sum = out.low_sum;
  input.scaled_sum = out.scaled_sum;
  input.q8 = out.q8;
  input.q_high = out.q_high;
  input.q_low = out.q_low;
  return input;
}

void CpuOps::linear(std::span<const Product> products) {
  int64_t end = 0;
  for (const Product& product : products) end += product_cost(product);
  const int tasks =
      end * backend::kPanelRows >= kMinSharedProducts ? threads_ * kTasksPerThread : 1;
  ThreadPool::instance().run(tasks, threads_, [&](int task, int) {
    const int64_t cost_begin = end * task / tasks, cost_end = end * (task + 1) / tasks;
    int64_t before = 0;
    for (const Product& product : products) {
      run_panels(product, before, cost_begin, cost_end);
      before += product_cost(product);
    }
  });
}

/// Runs the panels of a product that begin within [cost_begin, cost_end) of a call whose products
/// before this one cost `before`.
void CpuOps::run_panels(const Product& product, int64_t before, int64_t cost_begin,
                        int64_t cost_end) const {
  const Weight& weight = product.weight;
  const int64_t cost = panel_cost(product);
  const auto first_panel_from = [&](int64_t position) {
    const int64_t panel = (std::max<int64_t>(position - before, 0) + cost - 1) / cost;
    return static_cast<int>(std::min<int64_t>(panel, weight.num_panels()));
  };
  const int begin = first_panel_from(cost_begin), end = first_panel_from(cost_end);
  if (begin == end) return;
  kernels_.linear[static_cast<int>(weight.form)](
      {weight, product.input, product.bias, product.out, begin, end});
}

void CpuOps::rope(Matrix x, int head_dim, int rotary_dims, bool is_adjacent, const float* cos,
                  const float* sin) {
  const int half = rotary_dims / 2;
  const int step = is_adjacent ? 1 : half;  // from the first to the second of a pair
  const int stride = is_adjacent ? 2 : 1;   // from one pair to the next
  over_rows(x.rows, element_count(x), [&](int begin, int end) {
    for (int t = begin; t < end; ++t) {
      const float* c = cos + static_cast<int64_t>(t) * half;
      const float* s = sin + static_cast<int64_t>(t) * half;
      for (int h = 0; h < x.cols / head_dim; ++h) {
        float* head = x.row(t) + h * head_dim;
        for (int i = 0; i < half; ++i) {
          const float a = head[i * stride], b = head[i * stride + step];
          head[i * stride] = a * c[i] - b * s[i];
          head[i * stride + step] = b * c[i] + a * s[i];
        }
      }
    }
  });
}

void CpuOps::store_kv(const KvCache& cache, int layer, Matrix k, Matrix v,
                      const int32_t* slot_mapping) {
  over_rows(k.rows, element_count(k) * 2, [&](int begin, int end) {
    for (int t = begin; t < end; ++t) {
      store_kv_row(cache, layer, slot_mapping[t], k.row(t), v.row(t));
    }
  });
}

void CpuOps::plan_attention(const KvCache& cache, int group, const AttentionBatch& batch) {
  attention_tasks_.clear();
  const int queries_per_task = std::max(1, kAttentionRows / group);
  for (int s = 0; s < batch.num_seqs; ++s) {
    const int begin = batch.cu_seqlens_q[s], end = batch.cu_seqlens_q[s + 1];
    for (int first = begin; first < end; first += queries_per_task) {
      for (int h = 0; h < cache.num_kv_heads; ++h) {
        attention_tasks_.push_back({s, h, first, std::min(queries_per_task, end - first)});
      }
    }
  }
  // Later queries see more keys: longest first keeps the threads' ends together.
  std::reverse(attention_tasks_.begin(), attention_tasks_.end());
}

void CpuOps::paged_attention(Matrix out, Matrix q, const KvCache& cache, int layer,
                             const backend::AttentionParams& params, const AttentionBatch& batch) {
  const int group = q.cols / cache.head_dim / cache.num_kv_heads;
  plan_attention(cache, group, batch);
  const auto num_tasks = static_cast<int>(attention_tasks_.size());
  ThreadPool::instance().run(num_tasks, threads_, [&](int index, int worker) {
    const AttentionTask& task = attention_tasks_[static_cast<size_t>(index)];
    AttentionArgs args;
    args.cache = cache;
    args.layer = layer;
    args.kv_head = task.kv_head;
    args.group = group;
    args.num_queries = task.num_queries;
    args.first_position = batch.positions[task.first_row];
    args.block_table = batch.block_tables + batch.block_table_starts[task.seq];
    const int64_t offset = static_cast<int64_t>(task.kv_head) * group * cache.head_dim;
    args.q = q.row(task.first_row) + offset;
    args.out = out.row(task.first_row) + offset;
    args.query_stride = q.cols;
    args.params = params;
    auto& scratch = attention_scratch_[static_cast<size_t>(worker)];
    const int64_t needed = args.scratch_floats();
    if (static_cast<int64_t>(scratch.size()) < needed) {
      scratch.resize(static_cast<size_t>(needed + needed / 2));
    }
    args.scratch = scratch.data();
    kernels_.attention(args);
  });
}

void CpuOps::gated_mlp(Matrix gate, Matrix up, const backend::MlpGate& how) {
  over_elements(gate, [&](int64_t first, int64_t count) {
    kernels_.gated_mlp(gate.data + first, up.data + first, count, how);
  });
}

void CpuOps::add(Matrix x, Matrix y, float scale) {
  over_elements(x, [&](int64_t first, int64_t count) {
    kernels_.add_scaled(x.data + first, y.data + first, scale, count);
  });
}

void CpuOps::scale(Matrix x, float factor) {
  over_elements(x, [&](int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) x.data[i] *= factor;
  });
}

void CpuOps::soft_cap(Matrix x, float cap) {
  over_elements(
      x, [&](int64_t first, int64_t count) { kernels_.soft_cap(x.data + first, cap, count); });
}

void CpuOps::route_experts(Matrix scores, const backend::ExpertRouting& routing, int32_t* experts,
                           float* weights) {
  over_rows(scores.rows, element_count(scores), [&](int begin, int end) {
    for (int t = begin; t < end; ++t) {
      const int64_t first = static_cast<int64_t>(t) * routing.num_used;
      route_row(kernels_, scores.row(t), scores.cols, routing, experts + first, weights + first);
    }
  });
}

void CpuOps::gather_rows(Matrix out, Matrix x, const int32_t* rows) {
  over_rows(out.rows, element_count(out), [&](int begin, int end) {
    for (int i = begin; i < end; ++i) std::copy_n(x.row(rows[i]), x.cols, out.row(i));
  });
}

void CpuOps::add_weighted_rows(Matrix x, Matrix y, int num_used, const int32_t* rows,
                               const float* weights) {
  over_rows(x.rows, element_count(x) * num_used, [&](int begin, int end) {
    for (int t = begin; t < end; ++t) {
      const int64_t first = static_cast<int64_t>(t) * num_used;
      kernels_.add_weighted_row(x.row(t), y, num_used, rows + first, weights + first);
    }
  });
}

}  // namespace wl::cpu
