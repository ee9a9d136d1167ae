#include "tokenizer/token_table.h"

#include <algorithm>
#include <charconv>
#include <span>

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

/// Appends what BPE joins: the bytes that a token of the vocabulary stands for. False, and nothing
/// appended, when it stands for none.
bool append_vocabulary_bytes(std::string_view text, Spelling spelling, std::string* out) {
  if (spelling == Spelling::kByteLevel) return append_bytes_of_alphabet(text, out);
  *out += text;
  return true;
}

constexpr size_t kMergesAtOnce = 32;  // about 100 look-ups, prefetched together

/// What to look up for some merges.
class MergeKeys {
 public:
  struct Keys {
    Vocabulary::Key left, right, joined;
  };

  explicit MergeKeys(Spelling spelling) : spelling_(spelling) {}

  void make(std::span<const ListedMerge> merges) {
    bytes_.clear();
    ends_.clear();
    for (const ListedMerge& merge : merges) {
      for (const std::string_view half : {merge.left, merge.right}) {
        // A half that stands for no bytes becomes an empty key, which no vocabulary has.
        append_vocabulary_bytes(half, spelling_, &bytes_);
        ends_.push_back(bytes_.size());
      }
    }
    keys_.clear();
    size_t start = 0;
    for (size_t i = 0; i < ends_.size(); i += 2) {
      const std::string_view joined = std::string_view(bytes_).substr(start, ends_[i + 1] - start);
      const size_t cut = ends_[i] - start;
      keys_.push_back({Vocabulary::Key(joined.substr(0, cut)), Vocabulary::Key(joined.substr(cut)),
                       Vocabulary::Key(joined)});
      start = ends_[i + 1];
    }
  }

  void prefetch(const Vocabulary& vocabulary) const {
    for (const auto& [left, right, joined] : keys_) {
      vocabulary.prefetch(left);
      vocabulary.prefetch(right);
      vocabulary.prefetch(joined);
    }
  }

  const Keys& operator[](size_t i) const { return keys_[i]; }

 private:
  Spelling spelling_;
  std::string bytes_;         // of all halves, one behind the other
  std::vector<size_t> ends_;  // of the halves
  std::vector<Keys> keys_;
};

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
  append_output(token);
  token_bytes.starts.push_back(static_cast<uint32_t>(token_bytes.bytes.size()));
  if (token.text.empty()) return {};
  if (token.role == TokenRole::kControl) {
    control_.add(token.text, id);
    return {};
  }
  std::string bytes;
  if (!append_vocabulary_bytes(token.text, spelling_, &bytes)) return {};
  if (!vocabulary.add(bytes, id)) {
    return bad_format("the vocabulary has the token " + shown(token.text) + " twice, again as id " +
                      std::to_string(id));
  }
  return {};
}

void TokenTable::append_output(const ListedToken& token) {
  std::string* const out = &token_bytes.bytes;
  if (token.role == TokenRole::kControl || token.role == TokenRole::kReserved) return;
  if (spelling_ == Spelling::kByteLevel) {
    const bool is_spelled = token.role != TokenRole::kText;
    if (!is_spelled || !append_bytes_of_alphabet(token.text, out)) *out += token.text;
    return;
  }
  if (const auto byte = byte_of_hex_token(token.text)) {
    out->push_back(static_cast<char>(*byte));
    return;
  }
  append_replaced(token.text, kSpaceMark, " ", out);
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

Result<MergeTable> TokenTable::merge_table(const std::vector<ListedMerge>& merges) const {
  std::vector<TokenPair> pairs;
  pairs.reserve(merges.size());
  MergeKeys keys(spelling_);
  for (size_t i = 0; i < merges.size(); ++i) {
    if (i % kMergesAtOnce == 0) {
      keys.make(std::span(merges).subspan(i, std::min(kMergesAtOnce, merges.size() - i)));
      keys.prefetch(vocabulary);
    }
    const auto& [left_key, right_key, joined_key] = keys[i % kMergesAtOnce];
    const auto left = vocabulary.find(left_key);
    const auto right = vocabulary.find(right_key);
    const auto joined = vocabulary.find(joined_key);
    if (left && right && joined) {
      pairs.push_back({*left, *right, *joined});
    } else {
      WL_RETURN_IF_ERROR(check_without_token(merges[i]));
    }
  }
  return MergeTable(pairs);
}

/// Ok when what a merge has no token for is a control token.
Status TokenTable::check_without_token(const ListedMerge& merge) const {
  const std::string joined = std::string(merge.left) + std::string(merge.right);
  for (const std::string_view text : {merge.left, merge.right, std::string_view(joined)}) {
    if (find_normal(text)) continue;
    if (control_.find(text)) return {};
    return bad_format("a merge names the token " + shown(text) +
                      ", which is not in the vocabulary");
  }
  return {};
}

std::optional<TokenId> TokenTable::find_normal(std::string_view text) const {
  std::string bytes;
  if (!append_vocabulary_bytes(text, spelling_, &bytes)) return std::nullopt;
  return vocabulary.find(bytes);
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
