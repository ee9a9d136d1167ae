#include "loader/not_a_model.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/result.h"

namespace wl::loader {

namespace {

constexpr size_t kHeadBytes = 512;   // where a page's doctype stands, comments and blanks included
constexpr size_t kQuotedBytes = 16;  // enough to recognise a format by

std::string head_of(std::span<const uint8_t> bytes, size_t max_bytes) {
  const auto head = bytes.first(std::min(bytes.size(), max_bytes));
  return std::string(head.begin(), head.end());
}

bool looks_like_html(std::string_view head) {
  std::string lower(head);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const size_t start = lower.find_first_not_of(" \t\r\n");
  if (start == std::string::npos || lower[start] != '<') return false;
  return lower.find("<!doctype html") != std::string::npos ||
         lower.find("<html") != std::string::npos;
}

}  // namespace

std::optional<std::string> describe_non_model(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return "is empty (0 bytes); download it again";
  const std::string head = head_of(bytes, kHeadBytes);
  if (head.starts_with("version https://git-lfs.github.com/spec/")) {
    return "is a Git LFS pointer, not the model; fetch the file itself (git lfs pull)";
  }
  if (looks_like_html(head)) {
    return "is an HTML page, not a model; the download got a login or error page";
  }
  if (std::all_of(head.begin(), head.end(), [](char c) { return c == '\0'; })) {
    return "begins with zeros only: an unfinished download";
  }
  return std::nullopt;
}

std::string quote_first_bytes(std::span<const uint8_t> bytes) {
  return quote_bytes(head_of(bytes, kQuotedBytes));
}

}  // namespace wl::loader
