#include "cpu/cpu_backend.h"

#include <string>

#include "base/result.h"
#include "cpu/pack.h"
#include "cpu/thread_pool.h"

namespace wl::cpu {

std::optional<backend::WeightForm> CpuBackend::form_for(DType type) const {
  const auto form = packed_form(type);
  if (form.has_value() && dequantize_) return backend::WeightForm::kF32;
  return form;
}

void CpuBackend::pack(const backend::WeightSource& source, backend::WeightForm form,
                      uint8_t* panels) {
  if (source.cols % dtype_traits(source.type).block_elems != 0) {
    throw InternalError("pack: rows of " + std::to_string(source.cols) + " are not whole " +
                        dtype_traits(source.type).name + " blocks");
  }
  const backend::Weight shape{form, source.rows, source.cols, panels};
  ThreadPool::instance().run(shape.num_panels(), threads_, [&](int panel, int) {
    pack_panel(source, form, panel, panels + static_cast<size_t>(panel) * shape.panel_bytes());
  });
}

}  // namespace wl::cpu
