#pragma once
// Walks one level of a large JSON text without building a tree: each member or element is handed on
// as its slice of the text. For files where a tree of everything would cost more than what is read
// from them (a tokenizer.json has a million values). What a slice holds is checked by whoever reads
// it, with parse_json or json_string.

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wl {

/// `key` without quotes, escapes undone. Returning an error ends the walk with it.
using JsonMemberVisitor = std::function<Status(std::string_view key, std::string_view value)>;
using JsonElementVisitor = std::function<Status(std::string_view value)>;

/// Members in the order of the text; duplicate keys are not looked for.
/// Errors: ERR_MODEL_FORMAT when `object` is no object, or the visitor's.
Status for_each_member(std::string_view object, const JsonMemberVisitor& visit);
Status for_each_element(std::string_view array, const JsonElementVisitor& visit);

/// The string that a slice holds. `buffer` keeps the bytes when there are escapes to undo.
/// Errors: ERR_MODEL_FORMAT.
Result<std::string_view> json_string(std::string_view slice, std::string* buffer);

}  // namespace wl
