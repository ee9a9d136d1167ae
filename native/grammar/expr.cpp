#include "grammar/expr.h"

#include <utility>

namespace wl::grammar {
namespace {

template <class Node>
ExprPtr make(Node node) {
  return std::make_shared<const Expr>(Expr{std::move(node)});
}

void append_part(const ExprPtr& part, std::vector<ExprPtr>* out) {
  if (const auto* inner = std::get_if<Sequence>(&part->node)) {
    for (const ExprPtr& each : inner->parts) append_part(each, out);
    return;
  }
  const auto* text = std::get_if<Literal>(&part->node);
  const auto* before = out->empty() ? nullptr : std::get_if<Literal>(&out->back()->node);
  if (text != nullptr && before != nullptr) {
    out->back() = literal(before->bytes + text->bytes);
  } else {
    out->push_back(part);
  }
}

}  // namespace

ExprPtr literal(std::string bytes) { return make(Literal{std::move(bytes)}); }
ExprPtr marker(std::string text) { return make(Marker{std::move(text)}); }
ExprPtr match(std::shared_ptr<const ByteDfa> dfa, UnitBounds bounds) {
  return make(Match{std::move(dfa), bounds});
}
ExprPtr text(std::string until, std::vector<std::string> excluding) {
  return make(Text{std::move(until), std::move(excluding)});
}
ExprPtr sequence(std::vector<ExprPtr> parts) { return make(Sequence{std::move(parts)}); }
ExprPtr concatenation(const std::vector<ExprPtr>& parts) {
  std::vector<ExprPtr> flat;
  for (const ExprPtr& part : parts) append_part(part, &flat);
  return flat.size() == 1 ? flat[0] : sequence(std::move(flat));
}
ExprPtr choice(std::vector<ExprPtr> options) { return make(Choice{std::move(options)}); }
ExprPtr repeat(ExprPtr part, uint32_t min, uint32_t max) {
  return make(Repeat{std::move(part), min, max});
}
ExprPtr optional(ExprPtr part) { return repeat(std::move(part), 0, 1); }
ExprPtr reference(int32_t rule) { return make(Reference{rule}); }

}  // namespace wl::grammar
