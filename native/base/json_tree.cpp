#include "base/json_tree.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/json_slices.h"

namespace wl {
namespace {

/// Walks the text with a JsonCursor; scalars are checked by parse_json().
class TreeReader {
 public:
  TreeReader(std::string_view text, JsonLimits limits)
      : limits_(limits), cursor_(text, &unescaped_) {}

  Result<JsonTree> read_document() {
    JsonTree tree;
    WL_RETURN_IF_ERROR(read(&tree, 0));
    WL_RETURN_IF_ERROR(cursor_.check_end());
    return tree;
  }

 private:
  static Error malformed(const std::string& what) {
    return {ErrorCode::kModelFormat, "JSON: " + what};
  }

  Status read(JsonTree* out, int depth) {
    if (++num_nodes_ > limits_.max_nodes) return malformed("too many values");
    const bool is_object = cursor_.starts_with('{');
    if (!is_object && !cursor_.starts_with('[')) return read_scalar(out);
    if (depth >= limits_.max_depth) return malformed("nested too deeply");
    if (is_object) return read_object(out, depth);
    out->kind = JsonTree::Kind::kArray;
    return cursor_.for_each_element([&] { return read(&out->items.emplace_back(), depth + 1); });
  }

  Status read_object(JsonTree* out, int depth) {
    out->kind = JsonTree::Kind::kObject;
    WL_RETURN_IF_ERROR(cursor_.for_each_member([&](std::string_view key) {
      JsonTreeMember& member = out->members.emplace_back();
      member.key = key;
      return read(&member.value, depth + 1);
    }));
    std::vector<std::string_view> keys;
    for (const JsonTreeMember& member : out->members) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    const auto duplicate = std::adjacent_find(keys.begin(), keys.end());
    if (duplicate == keys.end()) return {};
    return malformed("duplicate key " + quote_bytes(std::string(*duplicate)));
  }

  Status read_scalar(JsonTree* out) {
    const auto slice = cursor_.take_value();
    if (!slice.ok()) return slice.error();
    const auto value = parse_json(slice.value());
    if (!value.ok()) return value.error();
    if (const std::string* text = value.value().as_string()) {
      out->kind = JsonTree::Kind::kString;
      out->text = *text;
    } else if (const auto flag = value.value().as_bool()) {
      out->kind = *flag ? JsonTree::Kind::kTrue : JsonTree::Kind::kFalse;
    } else if (!value.value().is_null()) {
      out->kind = JsonTree::Kind::kNumber;
      out->text = slice.value();
    }
    return {};
  }

  JsonLimits limits_;
  std::deque<std::string> unescaped_;
  JsonCursor cursor_;
  size_t num_nodes_ = 0;
};

}  // namespace

const JsonTree* JsonTree::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const JsonTreeMember& member) { return member.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

Result<JsonTree> parse_json_tree(std::string_view text, JsonLimits limits) {
  return TreeReader(text, limits).read_document();
}

}  // namespace wl
