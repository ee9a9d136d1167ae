#include "cpu/cpu_backend.h"

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
  const backend::Weight shape{form, source.rows, source.cols, panels};
  ThreadPool::instance().run(shape.num_panels(), threads_, [&](int panel, int) {
    pack_panel(source, form, panel, panels + static_cast<size_t>(panel) * shape.panel_bytes());
  });
}

}  // namespace wl::cpu
