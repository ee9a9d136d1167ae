#pragma once
// Checks the tokenizer keys of a GGUF file, so that the text layer can index its arrays blindly:
// element types, equal lengths, ids inside the vocabulary. Interprets nothing.

#include <map>
#include <string>

#include "loader/model_file.h"

namespace wl::loader {

/// Ok also when the file has no tokenizer. Errors: ERR_MODEL_FORMAT with the key.
Status check_tokenizer_metadata(const std::map<std::string, MetaValue>& metadata,
                                const std::string& file_name);

}  // namespace wl::loader
