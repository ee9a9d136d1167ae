#include "tokenizer/token_table.h"

#include <algorithm>
#include <charconv>

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/text_rewriter.h"

namespace wl::tokenizer {

namespace {

constexpr size_t kMaxVocabularyBytes = size_t{1} << 30;  // offsets have 32 bits

Error bad_format(const std::string& what) { return {ErrorCode::kTokenizerFormat, what}; }

std::string shown(std::string_view text) { return quote_bytes(std::string(text)); }

/// The byte of `<0xNN>`.
std::optional<unsigned char> byte_of_hex_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
  unsigned char byte = 0;
  const char* end = text.data() + 5;
  const auto parsed = std::from_chars(text.data() + 3, end, byte, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return byte;
}

/// What BPE joins: the bytes that a token of the vocabulary stands for.
std::optional<std::string> vocabulary_key(std::string_view text, Spelling spelling) {
  if (spelling == Spelling::kByteLevel) return bytes_of_alphabet(text);
  return std::string(text);
}

}  // namespace

Status check_spells_all(const BpeModel& model) {
  const auto has_token = [](const auto& token) { return token.has_value(); };
  if (model.unknown || std::ranges::any_of(model.byte_tokens, has_token)) return {};
  return bad_format("the vocabulary has no token of a byte and no unknown token");
}

bool is_reserved_text(std::string_view text) {
  if (!text.starts_with('<') || !text.ends_with('>')) return false;
  text = text.substr(1, text.size() - 2);
  for (const std::string_view name : {"unused", "ctrl"}) {
    if (!text.starts_with(name)) continue;
    const std::string_view number = text.substr(name.size());
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return !number.empty() && std::ranges::all_of(number, is_digit);
  }
  return false;
}

Result<TokenTable> TokenTable::make(const std::vector<ListedToken>& tokens, Spelling spelling) {
  if (tokens.empty()) return bad_format("the vocabulary is empty");
  if (tokens.size() > static_cast<size_t>(kMaxTokens)) {
    return bad_format("the vocabulary has " + std::to_string(tokens.size()) + " tokens, at most " +
                      std::to_string(kMaxTokens) + " are possible");
  }
  size_t num_bytes = 0;
  for (const ListedToken& token : tokens) num_bytes += token.text.size();
  if (num_bytes > kMaxVocabularyBytes) return bad_format("the vocabulary is larger than 1 GiB");
  TokenTable table(tokens.size(), spelling);
  for (size_t id = 0; id < tokens.size(); ++id) {
    WL_RETURN_IF_ERROR(table.add_token(static_cast<TokenId>(id), tokens[id]));
  }
  table.find_byte_tokens();
  return table;
}

Status TokenTable::add_token(TokenId id, const ListedToken& token) {
  token_bytes.bytes += output_bytes(token);
  token_bytes.starts.push_back(static_cast<uint32_t>(token_bytes.bytes.size()));
  if (token.text.empty()) return {};
  if (token.role == TokenRole::kControl) {
    control_.add(token.text, id);
    return {};
  }
  const auto key = vocabulary_key(token.text, spelling_);
  if (key && !vocabulary.add(*key, id)) {
    return bad_format("the vocabulary has the token " + shown(token.text) + " twice, again as id " +
                      std::to_string(id));
  }
  return {};
}

std::string TokenTable::output_bytes(const ListedToken& token) const {
  if (token.role == TokenRole::kControl || token.role == TokenRole::kReserved) return {};
  if (spelling_ == Spelling::kByteLevel) {
    const auto bytes =
        token.role == TokenRole::kText ? std::nullopt : bytes_of_alphabet(token.text);
    return bytes.value_or(std::string(token.text));
  }
  if (const auto byte = byte_of_hex_token(token.text)) {
    return std::string(1, static_cast<char>(*byte));
  }
  static const TextRewriter kMarkToSpace(
      {{.kind = RewriteStep::Kind::kReplace, .text = std::string(kSpaceMark), .by = " "}});
  std::string buffer;
  return std::string(kMarkToSpace.rewrite(token.text, false, &buffer));
}

void TokenTable::find_byte_tokens() {
  static constexpr const char* kHex = "0123456789ABCDEF";
  for (size_t byte = 0; byte < byte_tokens.size(); ++byte) {
    const std::string text = spelling_ == Spelling::kByteLevel
                                 ? std::string(1, static_cast<char>(byte))
                                 : std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">";
    byte_tokens[byte] = vocabulary.find(text);
  }
}

Status TokenTable::add_merge(std::string_view left, std::string_view right,
                             MergeTable* merges) const {
  std::string joined(left);
  joined += right;
  TokenId ids[3] = {};
  size_t num_ids = 0;
  for (const std::string_view text : {left, right, std::string_view(joined)}) {
    const auto id = find_normal(text);
    if (!id && control_.find(text)) return {};
    if (!id) {
      return bad_format("a merge names the token " + shown(text) +
                        ", which is not in the vocabulary");
    }
    ids[num_ids++] = *id;
  }
  merges->add(ids[0], ids[1], ids[2]);
  return {};
}

std::optional<TokenId> TokenTable::find_normal(std::string_view text) const {
  if (spelling_ == Spelling::kSentencePiece) return vocabulary.find(text);
  const auto bytes = bytes_of_alphabet(text);
  return bytes ? vocabulary.find(*bytes) : std::nullopt;
}

std::optional<TokenId> TokenTable::find_text(std::string_view text) const {
  const auto control = control_.find(text);
  return control ? control : find_normal(text);
}

std::optional<SpaceCutter> TokenTable::space_cutter(const std::vector<ListedToken>& tokens) const {
  if (spelling_ != Spelling::kSentencePiece || !vocabulary.find(kSpaceMark)) return std::nullopt;
  SpaceCutter cutter;
  for (const ListedToken& token : tokens) cutter.learn(token.text);
  return cutter;
}

}  // namespace wl::tokenizer
