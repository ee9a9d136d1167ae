#pragma once
// Follows $ref, allOf, anyOf and oneOf: schemas that hold together become branches, each a list of
// nodes of which only the own keywords are left to consider. A value validates against the schemas
// exactly if it does against one of the branches.

#include <vector>

#include "base/result.h"
#include "grammar/json_schema_document.h"
#include "grammar/json_schema_shapes.h"

namespace wl::grammar {

class SchemaBranches {
 public:
  SchemaBranches(SchemaDocument* document, SchemaShapes* shapes)
      : document_(*document), shapes_(*shapes) {}

  /// The branches; nodes without keywords of their own are left out. Errors: ERR_GRAMMAR: too many
  /// combinations, or a oneOf whose options may hold together for all that can be told. Where they
  /// only differ in what they require, branches of one lack a property that another requires: so
  /// fewer values than those that validate.
  Result<std::vector<Conjunction>> expand(const Conjunction& schemas);

 private:
  /// Nodes that hold, and what must still be chosen.
  struct Partial {
    Conjunction nodes;
    std::vector<const SchemaOptions*> open;
  };

  Status close(SchemaId id, Partial* partial) const;
  Result<std::vector<Partial>> choose(const Partial& partial, const SchemaOptions& alternatives,
                                      SchemaId option);
  void add_without(Partial way, SchemaId other, std::vector<Partial>* out);
  bool excludes(const Partial& partial, SchemaId other);
  bool is_provably_empty(Partial partial, int depth);
  bool contradicts_itself(const Conjunction& nodes, int depth);
  bool is_empty_object(const Conjunction& nodes, int depth);
  bool is_empty_array(const Conjunction& nodes, int depth);
  bool is_empty_string(const Conjunction& nodes);
  bool is_empty_conjunction(const Conjunction& schemas, int depth);
  bool says_nothing(SchemaId id) const;

  SchemaDocument& document_;
  SchemaShapes& shapes_;
  int steps_left_ = 0;  // of a proof
};

}  // namespace wl::grammar
