#pragma once
// A ModelFile over bytes in memory, without a file on disk.

#include <memory>
#include <string>

#include "check.h"
#include "loader/exact_bytes.h"
#include "loader/expect_error.h"
#include "loader/gguf.h"
#include "loader/gguf_writer.h"
#include "loader/model_file.h"

namespace wl::test {

class OpenedModel {
 public:
  explicit OpenedModel(const GgufWriter& writer) : bytes_(writer.build()) {
    auto parsed = loader::parse_gguf(bytes_.span(), "file");
    WL_CHECK_EQ(outcome(parsed), "ok");
    if (!parsed.ok()) return;
    file.metadata = std::move(parsed.value().metadata);
    file.tensors = std::move(parsed.value().tensors);
  }
  loader::ModelFile file;

 private:
  ExactBytes bytes_;
};

}  // namespace wl::test
