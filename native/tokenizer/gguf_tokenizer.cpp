#include "tokenizer/gguf_tokenizer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tokenizer/pre_tokenizers.h"
#include "tokenizer/score_merges.h"
#include "tokenizer/token_table.h"

namespace wl::tokenizer {

namespace {

using loader::MetaArrayF;
using loader::MetaArrayI;
using loader::MetaArrayS;
using loader::MetaValue;

/// Values of `tokenizer.ggml.token_type`.
constexpr int64_t kTypeNormal = 1;
constexpr int64_t kTypeUnknown = 2;
constexpr int64_t kTypeControl = 3;
constexpr int64_t kTypeUserDefined = 4;
constexpr int64_t kTypeUnused = 5;

Error bad_key(const std::string& key, const std::string& what) {
  return {ErrorCode::kTokenizerFormat, "tokenizer.ggml." + key + " " + what};
}

class GgufTokenizerReader {
 public:
  explicit GgufTokenizerReader(const std::map<std::string, MetaValue>& metadata)
      : metadata_(metadata) {}

  Result<Tokenizer> read() {
    WL_RETURN_IF_ERROR(get("model", "a string", &model_));
    if (!model_) return Error{ErrorCode::kTokenizerFormat, "the model file has no tokenizer"};
    if (*model_ != "gpt2" && *model_ != "llama" && *model_ != "gemma4") {
      return Error{ErrorCode::kTokenizerType,
                   "tokenizer model " + quote_bytes(*model_) + " is not supported"};
    }
    WL_RETURN_IF_ERROR(read_tokens());
    WL_RETURN_IF_ERROR(*model_ == "gpt2"    ? read_byte_level()
                       : *model_ == "llama" ? read_sentence_piece()
                                            : read_text_bpe());
    WL_RETURN_IF_ERROR(check_spells_all(parts_.model));
    return Tokenizer(std::move(parts_));
  }

 private:
  /// Missing: ok and nothing set. Of another type: an error that names the key.
  template <class T>
  Status get(const std::string& key, const char* expected, std::optional<T>* out) const {
    const auto found = metadata_.find("tokenizer.ggml." + key);
    if (found == metadata_.end()) return {};
    const T* value = std::get_if<T>(&found->second.v);
    if (value == nullptr) return bad_key(key, std::string("is not ") + expected);
    *out = *value;
    return {};
  }

  template <class T>
  Status get_array(const std::string& key, const char* expected, const T** out) const {
    const auto found = metadata_.find("tokenizer.ggml." + key);
    if (found == metadata_.end()) return {};
    *out = std::get_if<T>(&found->second.v);
    return *out != nullptr ? Status() : bad_key(key, std::string("is not ") + expected);
  }

  Status get_id(const std::string& key, std::optional<TokenId>* out) const {
    std::optional<int64_t> id;
    WL_RETURN_IF_ERROR(get(key, "a token id", &id));
    if (!id) return {};
    if (*id < 0 || static_cast<uint64_t>(*id) >= tokens_.size()) {
      return bad_key(key, "is " + std::to_string(*id) + ", outside the vocabulary of " +
                              std::to_string(tokens_.size()) + " tokens");
    }
    *out = static_cast<TokenId>(*id);
    return {};
  }

  Status read_tokens() {
    const MetaArrayS* texts = nullptr;
    WL_RETURN_IF_ERROR(get_array("tokens", "an array of strings", &texts));
    if (texts == nullptr || texts->empty()) return bad_key("tokens", "is missing or empty");
    const MetaArrayI* types = nullptr;
    WL_RETURN_IF_ERROR(get_array("token_type", "an array of integers", &types));
    if (types != nullptr && types->size() != texts->size()) {
      return bad_key("token_type", "has " + std::to_string(types->size()) + " entries for " +
                                       std::to_string(texts->size()) + " tokens");
    }
    tokens_.reserve(texts->size());
    std::vector<SpecialToken> special;
    for (size_t id = 0; id < texts->size(); ++id) {
      const ListedToken token = {(*texts)[id],
                                 role_of((*texts)[id], types ? (*types)[id] : kTypeNormal)};
      tokens_.push_back(token);
      is_normal_.push_back(types == nullptr || (*types)[id] == kTypeNormal);
      const bool is_added = types != nullptr && (*types)[id] == kTypeUserDefined;
      if (token.role != TokenRole::kControl && !is_added) continue;
      special.push_back({.id = static_cast<TokenId>(id),
                         .text = (*texts)[id],
                         .is_control = token.role == TokenRole::kControl});
    }
    parts_.special_tokens = SpecialTokens(std::move(special));
    return parts_.special_tokens.check_lengths();
  }

  static TokenRole role_of(std::string_view text, int64_t type) {
    if (type == kTypeControl || type == kTypeUnknown) return TokenRole::kControl;
    if (type == kTypeUnused) return TokenRole::kReserved;
    if (type != kTypeUserDefined) return TokenRole::kNormal;
    return is_reserved_text(text) ? TokenRole::kReserved : TokenRole::kText;
  }

  Status read_byte_level() {
    std::optional<std::string> name;
    WL_RETURN_IF_ERROR(get("pre", "a string", &name));
    auto rules = pre_tokenizer(name);
    if (!rules.ok()) return rules.error();
    if (is_default_pre_tokenizer(name)) {
      parts_.facts.warning = "the model file names no pre-tokenizer: quality may be degraded";
    }
    parts_.facts.kind = "byte-level";
    parts_.facts.needs_nfc = rules.value().nfc;
    parts_.model.symbols = BpeModel::Symbols::kBytes;
    parts_.model.ignore_merges = rules.value().ignore_merges;
    WL_RETURN_IF_ERROR(set_splits(rules.value().patterns));
    auto table = TokenTable::make(tokens_, Spelling::kByteLevel);
    if (!table.ok()) return table.error();
    WL_RETURN_IF_ERROR(read_merges(table.value()));
    take(std::move(table).value());
    return read_ids({}, {}, rules.value().add_bos);
  }

  Status read_sentence_piece() {
    std::optional<bool> adds_space;
    WL_RETURN_IF_ERROR(get("add_space_prefix", "a boolean", &adds_space));
    const bool prepends = adds_space.value_or(true);
    std::vector<RewriteStep> steps;
    if (prepends) {
      steps.push_back({.kind = RewriteStep::Kind::kPrepend, .text = std::string(kSpaceMark)});
    }
    steps.push_back(
        {.kind = RewriteStep::Kind::kReplace, .text = " ", .by = std::string(kSpaceMark)});
    parts_.rewriter = TextRewriter(std::move(steps));
    parts_.facts.strips_leading_space = prepends;
    auto table = TokenTable::make(tokens_, Spelling::kSentencePiece);
    if (!table.ok()) return table.error();
    WL_RETURN_IF_ERROR(read_scores(table.value()));
    take_characters(std::move(table).value());
    WL_RETURN_IF_ERROR(read_unknown(0));
    return read_ids(1, 2, true);
  }

  Status read_text_bpe() {
    parts_.rewriter = TextRewriter(
        {{.kind = RewriteStep::Kind::kReplace, .text = " ", .by = std::string(kSpaceMark)}});
    WL_RETURN_IF_ERROR(set_splits({"[^\\n]+|[\\n]+"}));
    auto table = TokenTable::make(tokens_, Spelling::kSentencePiece);
    if (!table.ok()) return table.error();
    WL_RETURN_IF_ERROR(read_merges(table.value()));
    take_characters(std::move(table).value());
    WL_RETURN_IF_ERROR(read_unknown({}));
    return read_ids({}, {}, true);
  }

  Status set_splits(const std::vector<std::string>& patterns) {
    std::vector<Split> splits;
    for (const std::string& expression : patterns) {
      auto pattern = Pattern::compile(expression);
      if (!pattern.ok()) return pattern.error();
      splits.push_back({.pattern = std::move(pattern).value()});
    }
    parts_.splitter = TextSplitter(std::move(splits));
    return {};
  }

  Status read_merges(const TokenTable& table) {
    const MetaArrayS* merges = nullptr;
    WL_RETURN_IF_ERROR(get_array("merges", "an array of strings", &merges));
    if (merges == nullptr) return bad_key("merges", "is missing");
    std::vector<ListedMerge> listed;
    listed.reserve(merges->size());
    for (const std::string_view merge : *merges) {
      const size_t space = merge.find(' ', 1);  // the left half may itself be a space
      if (space == std::string_view::npos) {
        return bad_key("merges",
                       "holds " + quote_bytes(std::string(merge)) + ", which is not two tokens");
      }
      listed.push_back({merge.substr(0, space), merge.substr(space + 1)});
    }
    auto made = table.merge_table(listed);
    if (!made.ok()) return made.error();
    parts_.model.merges = std::move(made).value();
    return {};
  }

  Status read_scores(const TokenTable& table) {
    const MetaArrayF* scores = nullptr;
    WL_RETURN_IF_ERROR(get_array("scores", "an array of numbers", &scores));
    const size_t num_scores = scores != nullptr ? scores->size() : 0;
    if (num_scores != tokens_.size()) {
      return bad_key("scores", "has " + std::to_string(num_scores) + " entries for " +
                                   std::to_string(tokens_.size()) + " tokens");
    }
    std::vector<ScoredToken> scored;
    scored.reserve(tokens_.size());
    for (size_t id = 0; id < tokens_.size(); ++id) {
      if (!is_normal_[id]) continue;
      scored.push_back({static_cast<TokenId>(id), tokens_[id].text, (*scores)[id]});
    }
    parts_.model.merges = merges_from_scores(std::move(scored), table.vocabulary);
    return {};
  }

  void take(TokenTable table) {
    parts_.model.vocabulary = std::move(table.vocabulary);
    parts_.model.byte_tokens = table.byte_tokens;
    parts_.token_bytes = std::move(table.token_bytes);
  }

  void take_characters(TokenTable table) {
    parts_.facts.kind = "sentencepiece";
    parts_.model.symbols = BpeModel::Symbols::kCharacters;
    parts_.model.fuses_unknown = true;
    parts_.space_cutter = table.space_cutter(tokens_);
    take(std::move(table));
  }

  Status read_unknown(std::optional<TokenId> absent) {
    std::optional<TokenId> id;
    WL_RETURN_IF_ERROR(get_id("unknown_token_id", &id));
    parts_.model.unknown = id ? id : absent;
    return {};
  }

  /// `bos` and `eos` stand for keys that are absent.
  Status read_ids(std::optional<TokenId> bos, std::optional<TokenId> eos, bool adds_bos) {
    std::optional<bool> flag;
    WL_RETURN_IF_ERROR(get("add_bos_token", "a boolean", &flag));
    parts_.facts.adds_bos = flag.value_or(adds_bos);
    parts_.facts.bos_id = in_vocabulary(bos);
    WL_RETURN_IF_ERROR(get_id("bos_token_id", &parts_.facts.bos_id));
    std::optional<TokenId> first_end = in_vocabulary(eos);
    WL_RETURN_IF_ERROR(get_id("eos_token_id", &first_end));
    if (first_end) parts_.facts.end_ids.push_back(*first_end);
    // Behind a separator of fill-in-the-middle the model is writing another file.
    for (const char* name : {"eot", "eom", "fim_pad", "fim_rep", "fim_sep"}) {
      std::optional<TokenId> id;
      WL_RETURN_IF_ERROR(get_id(std::string(name) + "_token_id", &id));
      if (id) parts_.facts.end_ids.push_back(*id);
    }
    return {};
  }

  std::optional<TokenId> in_vocabulary(std::optional<TokenId> id) const {
    return id && static_cast<size_t>(*id) < tokens_.size() ? id : std::nullopt;
  }

  const std::map<std::string, MetaValue>& metadata_;
  std::optional<std::string> model_;
  std::vector<ListedToken> tokens_;  // texts point into the metadata
  std::vector<bool> is_normal_;
  TokenizerParts parts_;
};

}  // namespace

Result<Tokenizer> tokenizer_from_gguf(const std::map<std::string, MetaValue>& metadata) {
  return GgufTokenizerReader(metadata).read();
}

}  // namespace wl::tokenizer
