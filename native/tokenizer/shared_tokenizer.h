#pragma once
// Tokenizers of the process, one a file: the first thread that opens a file reads it, threads that
// open it meanwhile wait, later ones share, and the last one to let go frees. Thread-safe.

#include <memory>
#include <string>

#include "base/result.h"
#include "tokenizer/tokenizer.h"

namespace wl::tokenizer {

/// @param path a GGUF file, or a folder with tokenizer.json
/// Errors: ERR_MODEL_FILE, ERR_MODEL_FORMAT when the file cannot be read; ERR_TOKENIZER_FORMAT,
/// ERR_TOKENIZER_TYPE when its tokenizer cannot be used.
Result<std::shared_ptr<const Tokenizer>> shared_tokenizer(const std::string& path);

}  // namespace wl::tokenizer
