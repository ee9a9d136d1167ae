#include "grammar/json_schema_loops.h"

#include <utility>
#include <vector>

namespace wl::grammar {

Status check_schema_loops(const SchemaDocument& document) {
  enum class Visit : uint8_t { kNone, kOpen, kDone };
  std::vector<Visit> visits(document.num_nodes(), Visit::kNone);
  std::vector<std::pair<SchemaId, std::vector<SchemaId>>> path;  // node, what is left of it
  const auto open = [&](SchemaId id) {
    const SchemaNode& node = document.node(id);
    std::vector<SchemaId> next = node.all_of;
    for (const SchemaOptions& alternatives : node.alternatives) {
      next.insert(next.end(), alternatives.options.begin(), alternatives.options.end());
    }
    visits[static_cast<size_t>(id)] = Visit::kOpen;
    path.emplace_back(id, std::move(next));
  };
  for (size_t start = 0; start < visits.size(); ++start) {
    if (visits[start] == Visit::kNone) open(static_cast<SchemaId>(start));
    while (!path.empty()) {
      auto& [id, next] = path.back();
      if (next.empty()) {
        visits[static_cast<size_t>(id)] = Visit::kDone;
        path.pop_back();
        continue;
      }
      const SchemaId target = next.back();
      next.pop_back();
      const Visit visit = visits[static_cast<size_t>(target)];
      if (visit == Visit::kOpen) {
        return document.error_at(document.node(target).pointer,
                                 "the schema refers to itself for the same value");
      }
      if (visit == Visit::kNone) open(target);
    }
  }
  return {};
}

}  // namespace wl::grammar
