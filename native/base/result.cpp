#include "base/result.h"

namespace wl {

const char* error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kModelFile:
      return "ERR_MODEL_FILE";
    case ErrorCode::kModelFormat:
      return "ERR_MODEL_FORMAT";
    case ErrorCode::kModelType:
      return "ERR_MODEL_TYPE";
    case ErrorCode::kModelArch:
      return "ERR_MODEL_ARCH";
    case ErrorCode::kModelTensor:
      return "ERR_MODEL_TENSOR";
    case ErrorCode::kModelMemory:
      return "ERR_MODEL_MEMORY";
    case ErrorCode::kTokenizerFormat:
      return "ERR_TOKENIZER_FORMAT";
    case ErrorCode::kTokenizerType:
      return "ERR_TOKENIZER_TYPE";
    case ErrorCode::kGrammar:
      return "ERR_GRAMMAR";
    case ErrorCode::kContextTooLong:
      return "ERR_CONTEXT_TOO_LONG";
    case ErrorCode::kQueueFull:
      return "ERR_QUEUE_FULL";
    case ErrorCode::kSequenceReleased:
      return "ERR_SEQUENCE_RELEASED";
    case ErrorCode::kEngineClosed:
      return "ERR_ENGINE_CLOSED";
    case ErrorCode::kEngineFailed:
      return "ERR_ENGINE_FAILED";
    case ErrorCode::kInvalidArgument:
      return "ERR_INVALID_ARGUMENT";
    case ErrorCode::kInternal:
      return "ERR_INTERNAL";
  }
  return "ERR_INTERNAL";
}

std::string escape_bytes(const std::string& text, size_t max_bytes) {
  static const char* const kHex = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < text.size() && i < max_bytes; ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x7f) {
      out.push_back(static_cast<char>(c));
    } else {
      out += "\\x";
      out.push_back(kHex[c >> 4]);
      out.push_back(kHex[c & 15]);
    }
  }
  if (text.size() > max_bytes) out += "...";
  return out;
}

std::string quote_bytes(const std::string& text, size_t max_bytes) {
  std::string out(1, '"');
  out += escape_bytes(text, max_bytes);
  out += '"';
  return out;
}

}  // namespace wl
