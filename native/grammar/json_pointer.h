#pragma once
// JSON pointers (RFC 6901) into a tree.

#include <string>
#include <string_view>
#include <vector>

#include "base/json_tree.h"

namespace wl::grammar {

/// Adds a step to a pointer.
std::string pointer_to(std::string_view pointer, std::string_view step);
/// The trees on the way from `root` to what the pointer points at, both included; empty: it points
/// to nothing.
std::vector<const JsonTree*> trees_on_way(const JsonTree& root, std::string_view pointer);
/// Undoes %41 in a URI, such as one with a pointer as its fragment; what is no such escape stays.
std::string percent_decoded(std::string_view text);

}  // namespace wl::grammar
