#include "tokenizer/json_tokenizer.h"

#include <algorithm>
#include <utility>

#include "tokenizer/json_steps.h"
#include "tokenizer/token_table.h"
#include "tokenizer/tokenizer_json.h"

namespace wl::tokenizer {

namespace {

constexpr size_t kMaxJsonBytes = size_t{1} << 30;

struct AddedToken {
  TokenId id;
  std::string text;
  bool is_special;
};

class JsonTokenizerReader {
 public:
  Result<Tokenizer> read(std::string_view json) {
    if (json.size() > kMaxJsonBytes) return bad_tokenizer_json("is larger than 1 GiB");
    WL_RETURN_IF_ERROR(walk_tokenizer_json(json, &file_));
    WL_RETURN_IF_ERROR(check_model());
    WL_RETURN_IF_ERROR(read_added_tokens());
    WL_RETURN_IF_ERROR(read_steps());
    WL_RETURN_IF_ERROR(list_tokens());
    WL_RETURN_IF_ERROR(fill_model());
    return Tokenizer(std::move(parts_));
  }

 private:
  Status check_model() const {
    if (!file_.has_model) return bad_tokenizer_json("has no model");
    if (file_.type != "BPE") {
      return {ErrorCode::kTokenizerType,
              "tokenizer model " + quote_bytes(file_.type) + " is not supported"};
    }
    if (!file_.vocab.is_there) return bad_tokenizer_json("has no model with a vocab");
    if (!file_.merges.is_there) return bad_tokenizer_json("has no merges");
    return {};
  }

  Status read_added_tokens() {
    const JsonArray* list = file_.steps["added_tokens"].as_array();
    if (list == nullptr) return {};
    std::vector<SpecialToken> special;
    for (const JsonValue& entry : *list) {
      const JsonValue* id_value = entry.find("id");
      const JsonValue* content = entry.find("content");
      const auto id = id_value != nullptr ? id_value->as_int() : std::nullopt;
      if (!id || !token_id(*id) || content == nullptr || content->as_string() == nullptr) {
        return bad_tokenizer_json("has an added token without its id or content");
      }
      const auto flag = [&entry](std::string_view key) {
        const JsonValue* value = entry.find(key);
        return value != nullptr && value->as_bool().value_or(false);
      };
      added_.push_back({*token_id(*id), *content->as_string(), flag("special")});
      special.push_back({.id = *token_id(*id),
                         .text = *content->as_string(),
                         .is_control = flag("special"),
                         .strips_left = flag("lstrip"),
                         .strips_right = flag("rstrip"),
                         .is_word = flag("single_word")});
    }
    parts_.special_tokens = SpecialTokens(std::move(special));
    return parts_.special_tokens.check_lengths();
  }

  Status read_steps() {
    auto steps = read_text_steps(file_.steps["normalizer"], file_.steps["pre_tokenizer"]);
    if (!steps.ok()) return steps.error();
    const JsonValue& decoder = file_.steps["decoder"];
    // Without a ByteLevel step the text never gets into the alphabet that the vocabulary is in.
    if (decodes_byte_level(decoder) && !steps.value().is_byte_level) {
      return Error{ErrorCode::kTokenizerType,
                   "a ByteLevel decoder without a ByteLevel pre-tokenizer is not supported"};
    }
    is_byte_level_ = steps.value().is_byte_level;
    parts_.rewriter = TextRewriter(std::move(steps.value().rewrites));
    parts_.splitter = TextSplitter(std::move(steps.value().splits));
    parts_.facts.kind = is_byte_level_ ? "byte-level" : "sentencepiece";
    parts_.facts.needs_nfc = steps.value().needs_nfc;
    parts_.facts.strips_leading_space = strips_leading_space(decoder);
    parts_.model.symbols =
        is_byte_level_ ? BpeModel::Symbols::kBytes : BpeModel::Symbols::kCharacters;
    return {};
  }

  Status list_tokens() {
    if (!file_.vocab.problem.ok()) return file_.vocab.problem.error();
    size_t num_tokens = 0;
    for (const VocabEntry& entry : file_.vocab.entries) {
      num_tokens = std::max(num_tokens, size_t(entry.id) + 1);
    }
    for (const AddedToken& token : added_) num_tokens = std::max(num_tokens, size_t(token.id) + 1);
    tokens_.resize(num_tokens);
    for (const auto& [text, id] : file_.vocab.entries) {
      ListedToken& token = tokens_[static_cast<size_t>(id)];
      if (!token.text.empty()) {
        return bad_tokenizer_json("gives the id " + std::to_string(id) + " to " +
                                  quote_bytes(std::string(token.text)) + " and to " +
                                  quote_bytes(std::string(text)));
      }
      token.text = text;
    }
    list_added_tokens();
    return {};
  }

  /// An added token stands in place of what the vocab has under its id.
  void list_added_tokens() {
    for (const AddedToken& token : added_) {
      tokens_[static_cast<size_t>(token.id)] = {token.text, token.is_special ? TokenRole::kControl
                                                            : is_reserved_text(token.text)
                                                                ? TokenRole::kReserved
                                                                : TokenRole::kText};
    }
  }

  Status fill_model() {
    const auto spelling = is_byte_level_ ? Spelling::kByteLevel : Spelling::kSentencePiece;
    auto made = TokenTable::make(tokens_, spelling);
    if (!made.ok()) return made.error();
    TokenTable& table = made.value();
    BpeModel& model = parts_.model;
    model.ignore_merges = file_.ignores_merges;
    model.fuses_unknown = file_.fuses_unknown;
    if (!file_.merges.problem.ok()) return file_.merges.problem.error();
    auto merges = table.merge_table(file_.merges.entries);
    if (!merges.ok()) return merges.error();
    model.merges = std::move(merges).value();
    if (file_.unknown) model.unknown = table.find_text(*file_.unknown);
    const auto bos = bos_of_post_processor(file_.steps["post_processor"]);
    if (bos) parts_.facts.bos_id = table.find_text(*bos);
    parts_.facts.adds_bos = bos.has_value();
    if (!model.ignore_merges) parts_.space_cutter = table.space_cutter(tokens_);
    if (is_byte_level_ || file_.has_byte_fallback) model.byte_tokens = table.byte_tokens;
    model.vocabulary = std::move(table.vocabulary);
    parts_.token_bytes = std::move(table.token_bytes);
    return check_spells_all(model);
  }

  TokenizerJson file_;
  bool is_byte_level_ = false;
  std::vector<AddedToken> added_;
  std::vector<ListedToken> tokens_;  // by id; texts point into the file, file_ and added_
  TokenizerParts parts_;
};

}  // namespace

Result<Tokenizer> tokenizer_from_json(std::string_view json) {
  return JsonTokenizerReader().read(json);
}

}  // namespace wl::tokenizer
