#include "grammar/json_schema_document.h"

#include "grammar/json_schema_loops.h"
#include "grammar/json_schema_reader.h"

namespace wl::grammar {

Result<std::unique_ptr<SchemaDocument>> SchemaDocument::read(const JsonTree& root,
                                                             std::string name) {
  std::unique_ptr<SchemaDocument> document(new SchemaDocument(std::move(name)));
  WL_RETURN_IF_ERROR(SchemaReader(root, document.get()).run());
  WL_RETURN_IF_ERROR(check_schema_loops(*document));
  return document;
}

SchemaId SchemaDocument::absent(const std::string& key) {
  const auto known = absent_.find(key);
  if (known != absent_.end()) return known->second;
  const auto nothing = static_cast<SchemaId>(nodes_.size());
  nodes_.emplace_back().is_false = true;
  SchemaNode& node = nodes_.emplace_back();
  node.properties.emplace_back(key, nothing);
  node.property_index.emplace(key, nothing);
  return absent_.emplace(key, nothing + 1).first->second;
}

Error SchemaDocument::error_at(std::string_view pointer, const std::string& what) const {
  std::string where = name_.empty() ? "schema" : "schema " + quote_bytes(name_);
  if (!pointer.empty()) where += " at " + escape_bytes(std::string(pointer), 200);
  return {ErrorCode::kGrammar, where + ": " + what};
}

std::vector<SchemaId> schemas_of_property(const SchemaNode& node, const std::string& key) {
  std::vector<SchemaId> schemas;
  const auto found = node.property_index.find(key);
  if (found != node.property_index.end()) schemas.push_back(found->second);
  for (const auto& [pattern, schema] : node.pattern_properties) {
    if (pattern.strings->accepts(key)) schemas.push_back(schema);
  }
  if (schemas.empty() && node.additional_properties) {
    schemas.push_back(*node.additional_properties);
  }
  return schemas;
}

}  // namespace wl::grammar
