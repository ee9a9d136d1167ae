#include "grammar/lark_terminals.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "grammar/encoded_dfa.h"
#include "grammar/lark_lexer.h"

namespace wl::grammar {
namespace {

using Kind = LarkNode::Kind;

constexpr size_t kMaxTerminalParts = 20'000;  // a terminal with all that it is made of
constexpr size_t kMaxTerminalDepth = 50;      // each may nest groups

struct CommonTerminal {
  std::string_view name, pattern;
};

/// Lark's library `common`, with the laziness of its expressions spelled out.
constexpr std::array<CommonTerminal, 24> kCommon = {{
    {"DIGIT", "[0-9]"},
    {"HEXDIGIT", "[0-9a-fA-F]"},
    {"INT", "[0-9]+"},
    {"SIGNED_INT", "[+-]?[0-9]+"},
    {"DECIMAL", "[0-9]+\\.[0-9]*|\\.[0-9]+"},
    {"FLOAT", "[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?"},
    {"SIGNED_FLOAT",
     "[+-]?(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"},
    {"NUMBER", "(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?"},
    {"SIGNED_NUMBER", "[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?"},
    {"ESCAPED_STRING", "\"(?:[^\"\\\\\\n]|\\\\[^\\n])*\""},
    {"LCASE_LETTER", "[a-z]"},
    {"UCASE_LETTER", "[A-Z]"},
    {"LETTER", "[A-Za-z]"},
    {"WORD", "[A-Za-z]+"},
    {"CNAME", "[A-Za-z_][A-Za-z0-9_]*"},
    {"WS_INLINE", "[ \\t]+"},
    {"WS", "[ \\t\\f\\r\\n]+"},
    {"CR", "\\r"},
    {"LF", "\\n"},
    {"NEWLINE", "(?:\\r?\\n)+"},
    {"SH_COMMENT", "#[^\\n]*"},
    {"CPP_COMMENT", "//[^\\n]*"},
    {"SQL_COMMENT", "--[^\\n]*"},
    {"C_COMMENT", "/\\*(?:[^*]|\\*+[^*/])*\\*+/"},
}};

RegexNode group_of(RegexNode::Kind kind, std::vector<RegexNode> parts) {
  return {kind, {}, std::move(parts), 0, 0};
}

bool has_anchor(const RegexNode& node) {
  return node.kind == RegexNode::Kind::kAtStart || node.kind == RegexNode::Kind::kAtEnd ||
         std::any_of(node.parts.begin(), node.parts.end(), has_anchor);
}

size_t num_parts(const RegexNode& node) {
  size_t count = 1;
  for (const RegexNode& part : node.parts) count += num_parts(part);
  return count;
}

/// The only string that is accepted, if there is just one.
std::optional<std::string> only_string(const CharDfa& dfa) {
  std::string text;
  for (size_t state = 0;;) {
    const CharState& here = dfa.states[state];
    if (here.accepts && here.edges.empty()) return text;
    if (here.accepts || here.edges.size() != 1) return std::nullopt;
    if (here.edges[0].first != here.edges[0].last) return std::nullopt;
    append_utf8(here.edges[0].first, &text);
    state = static_cast<size_t>(here.edges[0].target);
  }
}

RegexNode regex_of_string(const LarkNode& node) {
  std::vector<RegexNode> parts;
  for (size_t pos = 0; pos < node.text.size();) {
    const Utf8Char c = char_at(node.text, pos);
    pos += c.num_bytes;
    CharSet set = make_char_set({{c.code_point, c.code_point}});
    if (node.flags == "i") set = fold_ascii_case(set);
    parts.push_back({RegexNode::Kind::kChars, std::move(set), {}, 0, 0});
  }
  return group_of(RegexNode::Kind::kSequence, std::move(parts));
}

Result<RegexNode> regex_of_expression(const LarkNode& node) {
  RegexOptions options = {.dot = RegexOptions::Dot::kNoLineFeed};
  for (const char flag : node.flags) {
    if (flag == 'i') {
      options.ignores_ascii_case = true;
    } else if (flag == 's') {
      options.dot = RegexOptions::Dot::kAny;
    } else if (flag != 'u') {
      return lark_error(node.line, std::string("the flag ") + flag + " is not supported");
    }
  }
  auto regex = parse_regex_syntax(node.text, options);
  const std::string what = quote_bytes(node.text) + " ";
  if (!regex.ok()) return lark_error(node.line, what + regex.error().message);
  if (has_anchor(regex.value())) {
    return lark_error(node.line, what + "has an anchor, which is not supported");
  }
  return regex;
}

Result<RegexNode> regex_of_range(const LarkNode& node) {
  const auto only_char = [](const std::string& text) {
    const Utf8Char c = text.empty() ? Utf8Char{kNoCharacter, 0} : char_at(text, 0);
    return c.num_bytes == text.size() ? c.code_point : kNoCharacter;
  };
  const uint32_t first = only_char(node.text), last = only_char(node.last);
  if (first == kNoCharacter || last == kNoCharacter || first > last) {
    return lark_error(node.line, "a range needs two characters in order");
  }
  return RegexNode{RegexNode::Kind::kChars, make_char_set({{first, last}}), {}, 0, 0};
}

}  // namespace

Status LarkTerminals::add_imports(const LarkSyntax& syntax) {
  for (size_t i = 0; i < syntax.imported.size(); ++i) {
    const auto common = std::find_if(
        kCommon.begin(), kCommon.end(),
        [&](const CommonTerminal& terminal) { return terminal.name == syntax.imported[i]; });
    if (common == kCommon.end()) {
      return {ErrorCode::kGrammar,
              "Lark grammar: common has no " + quote_bytes(syntax.imported[i])};
    }
    auto node = parse_regex_syntax(common->pattern, {});
    if (!node.ok()) throw InternalError("a terminal of common: " + node.error().message);
    regexes_.emplace(syntax.imported_as[i], std::move(node).value());
  }
  return {};
}

Result<ExprPtr> LarkTerminals::expr_of(const LarkNode& node) {
  if (node.kind == Kind::kName) {
    const auto known = exprs_.find(node.text);
    if (known != exprs_.end()) return known->second;
  }
  const auto regex = regex_of(node);
  if (!regex.ok()) return regex.error();
  const auto dfa = regex_dfa(regex.value(), RegexOptions::Scope::kWhole);
  if (!dfa.ok()) return lark_error(node.line, "a terminal " + dfa.error().message);
  if (dfa.value().is_empty()) return lark_error(node.line, "a terminal matches nothing");
  const auto text = only_string(dfa.value());
  ExprPtr expr =
      text ? literal(*text) : match(std::make_shared<const ByteDfa>(encoded_dfa(dfa.value())));
  if (node.kind == Kind::kName) exprs_.emplace(node.text, expr);
  return expr;
}

/// A part of a terminal as a regular expression, with the terminals that it names in it.
Result<RegexNode> LarkTerminals::regex_of(const LarkNode& node) {
  switch (node.kind) {
    case Kind::kString:
      return regex_of_string(node);
    case Kind::kRegex:
      return regex_of_expression(node);
    case Kind::kRange:
      return regex_of_range(node);
    case Kind::kName:
      return regex_of_name(node);
    default:
      return regex_of_parts(node);
  }
}

Result<RegexNode> LarkTerminals::regex_of_parts(const LarkNode& node) {
  std::vector<RegexNode> parts;
  size_t size = 0;
  for (const LarkNode& part : node.parts) {
    auto regex = regex_of(part);
    if (!regex.ok()) return regex;
    size += num_parts(regex.value());
    if (size > kMaxTerminalParts) return lark_error(part.line, "a terminal is too large");
    parts.push_back(std::move(regex).value());
  }
  if (node.kind == Kind::kChoice) return group_of(RegexNode::Kind::kChoice, std::move(parts));
  RegexNode group = group_of(RegexNode::Kind::kSequence, std::move(parts));
  if (node.kind == Kind::kRepeat) {
    group.kind = RegexNode::Kind::kRepeat;
    group.min = node.min;
    group.max = node.max;
  }
  return group;
}

Result<RegexNode> LarkTerminals::regex_of_name(const LarkNode& node) {
  const auto known = regexes_.find(node.text);
  if (known != regexes_.end()) return known->second;
  const auto found = definitions_.find(node.text);
  if (found == definitions_.end()) return undefined_in_lark(node);
  if (!is_terminal_name(node.text)) {
    return lark_error(node.line, "a terminal names the rule " + quote_bytes(node.text));
  }
  const auto is_open = std::find(open_.begin(), open_.end(), node.text);
  if (is_open != open_.end()) {
    return lark_error(node.line, "the terminal " + quote_bytes(node.text) + " is recursive");
  }
  if (open_.size() >= kMaxTerminalDepth) {
    return lark_error(node.line, "terminals name each other too deeply");
  }
  open_.push_back(node.text);
  auto regex = regex_of(found->second->body);
  open_.pop_back();
  if (regex.ok()) regexes_.emplace(node.text, regex.value());
  return regex;
}

Error undefined_in_lark(const LarkNode& node) {
  return lark_error(node.line, quote_bytes(node.text) + " is not defined");
}

}  // namespace wl::grammar
