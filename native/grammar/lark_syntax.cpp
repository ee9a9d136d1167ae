#include "grammar/lark_syntax.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "grammar/lark_lexer.h"

namespace wl::grammar {
namespace {

using Kind = LarkNode::Kind;
using TokenKind = LarkToken::Kind;

constexpr int kMaxDepth = 100;  // of groups; each is some stack frames

class Parser {
 public:
  explicit Parser(std::vector<LarkToken> tokens) : tokens_(std::move(tokens)) {}

  Result<LarkSyntax> run() {
    while (peek().kind != TokenKind::kEnd) {
      if (peek().kind == TokenKind::kNewline) {
        ++at_;
      } else if (peek().kind == TokenKind::kDirective) {
        WL_RETURN_IF_ERROR(parse_directive());
      } else {
        WL_RETURN_IF_ERROR(parse_definition());
      }
    }
    return std::move(syntax_);
  }

 private:
  const LarkToken& peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool is_next(std::string_view word) const {
    return peek().kind == TokenKind::kPunctuation && peek().text == word;
  }
  bool consume(std::string_view word) {
    if (!is_next(word)) return false;
    ++at_;
    return true;
  }
  Error error(const std::string& what) const { return lark_error(peek().line, what); }

  Status expect_line_end() {
    if (peek().kind == TokenKind::kNewline) return {};
    return error("expected the end of the line");
  }

  Result<std::string> parse_name(const char* what) {
    if (peek().kind != TokenKind::kName) return error(std::string("expected ") + what);
    return tokens_[at_++].text;
  }

  Status parse_directive() {
    const std::string name = tokens_[at_++].text;
    if (name == "import") return parse_import();
    if (name == "ignore") {
      LarkNode ignored;
      WL_RETURN_IF_ERROR(parse_choice(&ignored, 0));
      syntax_.ignored.push_back(std::move(ignored));
      return expect_line_end();
    }
    return error(quote_bytes(name) + " is no directive that is supported");
  }

  /// `common.LF`, `common.LF -> NL` or `common (LF, INT)`.
  Status parse_import() {
    const auto library = parse_name("the library to import from");
    if (!library.ok()) return library.error();
    if (library.value() != "common") return error("only terminals of common can be imported");
    if (consume("(")) {
      do {
        WL_RETURN_IF_ERROR(add_import());
      } while (consume(","));
      if (!consume(")")) return error("expected )");
      return expect_line_end();
    }
    if (!consume(".")) return error("expected . and what to import");
    WL_RETURN_IF_ERROR(add_import());
    if (consume("->")) {
      auto alias = parse_name("a name");
      if (!alias.ok()) return alias.error();
      syntax_.imported_as.back() = std::move(alias).value();
    }
    return expect_line_end();
  }

  Status add_import() {
    auto name = parse_name("what to import");
    if (!name.ok()) return name.error();
    syntax_.imported.push_back(name.value());
    syntax_.imported_as.push_back(std::move(name).value());
    return {};
  }

  Status parse_definition() {
    while (consume("?") || consume("!")) {
    }
    LarkDefinition definition;
    definition.line = peek().line;
    auto name = parse_name("a rule or a terminal");
    if (!name.ok()) return name.error();
    definition.name = std::move(name).value();
    if (is_next("{")) return error("templates are not supported");
    if (consume(".")) {
      if (peek().kind != TokenKind::kNumber) return error("expected a priority");
      ++at_;
    }
    if (!consume(":")) return error("expected :");
    WL_RETURN_IF_ERROR(parse_choice(&definition.body, 0));
    syntax_.definitions.push_back(std::move(definition));
    return expect_line_end();
  }

  /// A line that begins with | goes on with the one in front.
  void skip_newline_in_choice(int depth) {
    while (peek().kind == TokenKind::kNewline &&
           (depth > 0 || (peek(1).kind == TokenKind::kPunctuation && peek(1).text == "|"))) {
      ++at_;
    }
  }

  Status parse_choice(LarkNode* out, int depth) {
    if (depth > kMaxDepth) return error("groups are nested too deeply");
    out->kind = Kind::kChoice;
    out->line = peek().line;
    do {
      LarkNode& option = out->parts.emplace_back();
      option.line = peek().line;
      WL_RETURN_IF_ERROR(parse_sequence(&option, depth));
      skip_newline_in_choice(depth);
    } while (consume("|"));
    if (out->parts.size() > 1) return {};
    LarkNode only = std::move(out->parts[0]);
    *out = std::move(only);
    return {};
  }

  bool is_sequence_end() const {
    const TokenKind kind = peek().kind;
    return kind == TokenKind::kNewline || kind == TokenKind::kEnd || is_next("|") || is_next(")") ||
           is_next("]");
  }

  Status parse_sequence(LarkNode* out, int depth) {
    while (true) {
      skip_newline_in_choice(depth);
      if (consume("->")) {
        const auto alias = parse_name("an alias");
        if (!alias.ok()) return alias.error();
        continue;
      }
      if (is_sequence_end()) return {};
      LarkNode part;
      part.line = peek().line;
      WL_RETURN_IF_ERROR(parse_atom(&part, depth));
      WL_RETURN_IF_ERROR(parse_repetition(&part));
      out->parts.push_back(std::move(part));
    }
  }

  Status parse_atom(LarkNode* out, int depth) {
    if (consume("(")) {
      WL_RETURN_IF_ERROR(parse_choice(out, depth + 1));
      return consume(")") ? Status() : error("expected )");
    }
    if (consume("[")) {
      LarkNode inner;
      WL_RETURN_IF_ERROR(parse_choice(&inner, depth + 1));
      repeat(std::move(inner), 0, 1, out);
      return consume("]") ? Status() : error("expected ]");
    }
    const LarkToken token = peek();
    switch (token.kind) {
      case TokenKind::kName:
        out->kind = Kind::kName;
        if (peek(1).kind == TokenKind::kPunctuation && peek(1).text == "{") {
          return error("templates are not supported");
        }
        break;
      case TokenKind::kString:
        out->kind = Kind::kString;
        break;
      case TokenKind::kRegex:
        out->kind = Kind::kRegex;
        break;
      default:
        return error("expected a rule, a terminal, a string or an expression");
    }
    out->text = token.text;
    out->flags = token.flags;
    ++at_;
    if (token.kind != TokenKind::kString || !consume("..")) return {};
    if (peek().kind != TokenKind::kString) return error("expected the end of a range");
    out->kind = Kind::kRange;
    out->last = tokens_[at_++].text;
    return {};
  }

  static void repeat(LarkNode part, uint32_t min, uint32_t max, LarkNode* out) {
    LarkNode node;
    node.kind = Kind::kRepeat;
    node.line = part.line;
    node.min = min;
    node.max = max;
    node.parts.push_back(std::move(part));
    *out = std::move(node);
  }

  Status parse_repetition(LarkNode* part) {
    uint32_t min = 0, max = LarkNode::kUnbounded;
    if (consume("?")) {
      max = 1;
    } else if (consume("*")) {
    } else if (consume("+")) {
      min = 1;
    } else if (consume("~")) {
      WL_RETURN_IF_ERROR(parse_count(&min));
      max = min;
      if (consume("..")) WL_RETURN_IF_ERROR(parse_count(&max));
      if (min > max) return error("a repetition has its bounds in the wrong order");
    } else {
      return {};
    }
    repeat(std::move(*part), min, max, part);
    return {};
  }

  Status parse_count(uint32_t* out) {
    const std::string& digits = peek().text;
    const char* const end = digits.data() + digits.size();
    const bool is_count =
        peek().kind == TokenKind::kNumber && std::from_chars(digits.data(), end, *out).ptr == end;
    if (!is_count) return error("expected a count");
    ++at_;
    return {};
  }

  std::vector<LarkToken> tokens_;
  size_t at_ = 0;
  LarkSyntax syntax_;
};

}  // namespace

Result<LarkSyntax> parse_lark_syntax(std::string_view definition) {
  auto tokens = cut_lark_tokens(definition);
  if (!tokens.ok()) return tokens.error();
  return Parser(std::move(tokens).value()).run();
}

bool is_terminal_name(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace wl::grammar
