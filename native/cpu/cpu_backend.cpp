#include "cpu/cpu_backend.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/result.h"
#include "cpu/pack.h"
#include "cpu/thread_pool.h"
#include "quant/dequantize.h"
#include "quant/quantize.h"

namespace wl::cpu {

namespace {

/// The rows of one panel as blocks of the type they are quantised to.
struct PanelSource {
  DType type;
  int rows, cols;
  std::vector<uint8_t> bytes;
  backend::WeightSource source() const { return {type, rows, cols, bytes.data()}; }
};

PanelSource quantized_panel(const backend::WeightSource& source, int panel) {
  const int first_row = panel * backend::kPanelRows;
  const int num_rows = std::min(backend::kPanelRows, source.rows - first_row);
  const size_t bytes = row_bytes(source.type, source.cols);
  const size_t quantized_bytes = row_bytes(*source.quantize_to, source.cols);
  PanelSource out{*source.quantize_to, num_rows, source.cols, {}};
  out.bytes.resize(static_cast<size_t>(num_rows) * quantized_bytes);
  std::vector<float> row(static_cast<size_t>(source.cols));
  for (int r = 0; r < num_rows; ++r) {
    quant::dequantize(source.type, source.bytes + static_cast<size_t>(first_row + r) * bytes,
                      source.cols, row.data());
    quant::quantize(*source.quantize_to, row.data(), source.cols,
                    out.bytes.data() + static_cast<size_t>(r) * quantized_bytes);
  }
  return out;
}

}  // namespace

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
    uint8_t* out = panels + static_cast<size_t>(panel) * shape.panel_bytes();
    if (source.quantize_to) {
      const PanelSource rows = quantized_panel(source, panel);
      pack_panel(rows.source(), form, 0, out);
    } else {
      pack_panel(source, form, panel, out);
    }
  });
}

}  // namespace wl::cpu
