#pragma once
// Reads the nodes of a JSON Schema, keyword by keyword, for SchemaDocument.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/json_schema_document.h"

namespace wl::grammar {

/// Reads nodes until every id that was given out is read. A keyword is read by a function of its
/// own, into the node that is being read.
class SchemaReader {
 public:
  SchemaReader(const JsonTree& root, SchemaDocument* document)
      : root_(root), document_(*document) {}

  /// Errors: ERR_GRAMMAR with the place, the keyword and the reason.
  Status run();

 private:
  using Reader = Status (SchemaReader::*)(std::string_view keyword, const JsonTree& value);
  struct Keyword {
    std::string_view name;
    Reader read;
  };
  static const std::array<Keyword, 41> kKeywords;

  SchemaId id_of(const JsonTree& tree, std::string pointer);
  SchemaId child(const JsonTree& tree, std::string_view keyword);
  Error error(std::string_view keyword, const std::string& what) const;
  Status read_node(const JsonTree& tree);

  // Any type.

  Status read_type(std::string_view keyword, const JsonTree& value);
  Status read_enum(std::string_view keyword, const JsonTree& value);
  Status read_const(std::string_view, const JsonTree& value);
  /// enum and const in one schema: the second becomes a node of its own.
  Status add_values(std::vector<const JsonTree*> values);

  // Other schemas in the same place.

  /// A base for the references below it; that of the root is the document's own.
  Status read_id(std::string_view keyword, const JsonTree&);
  Status read_ref(std::string_view keyword, const JsonTree& value);
  Status read_schemas(std::string_view keyword, const JsonTree& value, std::vector<SchemaId>* out);
  Status read_all_of(std::string_view keyword, const JsonTree& value);
  Status read_any_of(std::string_view keyword, const JsonTree& value);

  // Strings.

  Status read_bound(std::string_view keyword, const JsonTree& value, uint32_t* out);
  Status read_min_length(std::string_view keyword, const JsonTree& value);
  Status read_max_length(std::string_view keyword, const JsonTree& value);
  Result<SchemaPattern> compile_pattern(std::string_view keyword, const std::string& text);
  Status read_pattern(std::string_view keyword, const JsonTree& value);
  Status read_format(std::string_view keyword, const JsonTree& value);

  // Numbers.

  /// Keeps the tighter of two bounds; sign 1: of minima, -1: of maxima.
  static void tighten(std::optional<NumberBound>* bound, Decimal value, bool is_exclusive,
                      int sign);
  Status read_minimum(std::string_view keyword, const JsonTree& value);
  Status read_maximum(std::string_view keyword, const JsonTree& value);
  Status read_number_bound(std::string_view keyword, const JsonTree& value,
                           std::string_view exclusive, std::optional<NumberBound>* bound, int sign);
  Status read_multiple_of(std::string_view keyword, const JsonTree& value);

  // Arrays.

  Status read_items(std::string_view keyword, const JsonTree& value);
  Status read_prefix_items(std::string_view keyword, const JsonTree& value);
  Status read_additional_items(std::string_view keyword, const JsonTree& value);
  Status read_min_items(std::string_view keyword, const JsonTree& value);
  Status read_max_items(std::string_view keyword, const JsonTree& value);
  Status read_unique_items(std::string_view keyword, const JsonTree& value);

  // Objects.

  Status read_properties(std::string_view keyword, const JsonTree& value);
  Status read_required(std::string_view keyword, const JsonTree& value);
  Status read_pattern_properties(std::string_view keyword, const JsonTree& value);
  Status read_additional_properties(std::string_view keyword, const JsonTree& value);
  Status read_property_names(std::string_view keyword, const JsonTree& value);
  Status read_min_properties(std::string_view keyword, const JsonTree& value);
  Status read_max_properties(std::string_view keyword, const JsonTree& value);

  // Assertions that are only supported where they say nothing, or nothing can meet them.

  Status read_not(std::string_view keyword, const JsonTree& value);
  Status read_then(std::string_view keyword, const JsonTree& value);
  Status read_unevaluated(std::string_view keyword, const JsonTree& value);
  Status read_dependent(std::string_view keyword, const JsonTree& value);
  Status refuse(std::string_view keyword, const JsonTree&);

  const JsonTree& root_;
  const JsonTree no_keywords_ = {
      JsonTree::Kind::kTrue, {}, {}, {}};  // of a node that is read already
  SchemaDocument& document_;
  std::vector<const JsonTree*> trees_;  // by id
  std::unordered_map<const JsonTree*, SchemaId> ids_;
  std::unordered_map<std::string, std::shared_ptr<const CharDfa>> patterns_;
  const JsonTree* tree_ = nullptr;  // being read
  SchemaNode* node_ = nullptr;      // likewise
};

}  // namespace wl::grammar
