#include "grammar/json_pointer.h"

#include <algorithm>
#include <charconv>

namespace wl::grammar {
namespace {

using Kind = JsonTree::Kind;

/// Undoes the escapes of one step of a JSON pointer (RFC 6901).
std::string pointer_step_decoded(std::string_view step) {
  std::string out;
  for (size_t i = 0; i < step.size(); ++i) {
    if (step[i] == '~' && i + 1 < step.size()) {
      out.push_back(step[++i] == '1' ? '/' : '~');
    } else {
      out.push_back(step[i]);
    }
  }
  return out;
}

const JsonTree* child_at(const JsonTree& tree, const std::string& step) {
  if (tree.is(Kind::kObject)) return tree.find(step);
  size_t index = 0;
  const char* const end = step.data() + step.size();
  const bool is_index = std::from_chars(step.data(), end, index).ptr == end && !step.empty();
  return tree.is(Kind::kArray) && is_index && index < tree.items.size() ? &tree.items[index]
                                                                        : nullptr;
}

}  // namespace

std::string pointer_to(std::string_view pointer, std::string_view step) {
  std::string out = std::string(pointer) + "/";
  for (const char c : step) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::vector<const JsonTree*> trees_on_way(const JsonTree& root, std::string_view pointer) {
  std::vector<const JsonTree*> trees = {&root};
  for (size_t at = 0; at < pointer.size();) {
    const size_t end = std::min(pointer.find('/', at + 1), pointer.size());
    const std::string step = pointer_step_decoded(pointer.substr(at + 1, end - at - 1));
    const JsonTree* child = child_at(*trees.back(), step);
    if (child == nullptr) return {};
    trees.push_back(child);
    at = end;
  }
  return trees;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const char* const end = digits.data() + digits.size();
    if (text[i] == '%' && digits.size() == 2 &&
        std::from_chars(digits.data(), end, value, 16).ptr == end) {
      out.push_back(static_cast<char>(value));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

}  // namespace wl::grammar
