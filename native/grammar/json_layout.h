#pragma once
// How a JSON text is put together: brackets, members, commas, white space between them.

#include <vector>

#include "base/json_tree.h"
#include "grammar/expr.h"
#include "grammar/json_text.h"

namespace wl::grammar {

class JsonLayout {
 public:
  explicit JsonLayout(JsonWhitespace whitespace) : punctuation_(json_punctuation(whitespace)) {}

  const ExprPtr& comma() const { return punctuation_.comma; }
  /// This value, with white space where there may be some.
  ExprPtr value(const JsonTree& value) const;
  ExprPtr member(const ExprPtr& key, const ExprPtr& value) const;
  /// White space stands around what is between brackets, once if that is nothing.
  ExprPtr bracketed(const char* open, const ExprPtr& inside, const char* close) const;

 private:
  ExprPtr separated(const std::vector<ExprPtr>& items) const;

  const JsonPunctuation& punctuation_;
};

}  // namespace wl::grammar
