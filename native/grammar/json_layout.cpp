#include "grammar/json_layout.h"

#include <utility>

#include "grammar/encoded_dfa.h"

namespace wl::grammar {

using Kind = JsonTree::Kind;

ExprPtr JsonLayout::value(const JsonTree& tree) const {
  switch (tree.kind) {
    case Kind::kNull:
      return literal("null");
    case Kind::kFalse:
      return literal("false");
    case Kind::kTrue:
      return literal("true");
    case Kind::kNumber:
      return literal(tree.text);
    case Kind::kString:
      return literal(json_quoted(tree.text));
    case Kind::kArray: {
      std::vector<ExprPtr> items;
      for (const JsonTree& item : tree.items) items.push_back(value(item));
      return bracketed("[", separated(items), "]");
    }
    case Kind::kObject: {
      std::vector<ExprPtr> members;
      for (const JsonTreeMember& each : tree.members) {
        members.push_back(member(literal(json_quoted(each.key)), value(each.value)));
      }
      return bracketed("{", separated(members), "}");
    }
  }
  return nullptr;
}

ExprPtr JsonLayout::separated(const std::vector<ExprPtr>& items) const {
  std::vector<ExprPtr> parts;
  for (const ExprPtr& item : items) {
    if (!parts.empty()) parts.push_back(punctuation_.comma);
    parts.push_back(item);
  }
  return concatenation(parts);
}

ExprPtr JsonLayout::member(const ExprPtr& key, const ExprPtr& value) const {
  return concatenation({key, punctuation_.colon, value});
}

ExprPtr JsonLayout::bracketed(const char* open, const ExprPtr& inside, const char* close) const {
  const ExprPtr& space = punctuation_.space;
  if (space == nullptr) return concatenation({literal(open), inside, literal(close)});
  const auto* options = std::get_if<Choice>(&inside->node);
  const auto is_nothing = [](const ExprPtr& expr) {
    const auto* sequence = std::get_if<Sequence>(&expr->node);
    return sequence != nullptr && sequence->parts.empty();
  };
  std::vector<ExprPtr> something = options == nullptr ? std::vector{inside} : options->options;
  const auto removed = std::erase_if(something, is_nothing);
  ExprPtr filled = concatenation({something.size() == 1 ? something[0] : choice(something), space});
  const ExprPtr content = something.empty() ? sequence({})
                          : removed == 0    ? filled
                                            : optional(std::move(filled));
  return concatenation({literal(open), space, content, literal(close)});
}

}  // namespace wl::grammar
