#include "tokenizer/json_tokenizer.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/json_slices.h"
#include "tokenizer/json_steps.h"
#include "tokenizer/token_table.h"

namespace wl::tokenizer {

namespace {

constexpr size_t kMaxJsonBytes = size_t{1} << 30;

Error bad_format(const std::string& what) {
  return {ErrorCode::kTokenizerFormat, "tokenizer.json " + what};
}

/// An error of the JSON reader, as one of the tokenizer.
Error as_format(const Error& error) {
  return error.code == ErrorCode::kModelFormat ? bad_format(error.message) : error;
}

struct AddedToken {
  TokenId id;
  std::string text;
  bool is_special;
};

class JsonTokenizerReader {
 public:
  Result<Tokenizer> read(std::string_view json) {
    if (json.size() > kMaxJsonBytes) return bad_format("is larger than 1 GiB");
    WL_RETURN_IF_ERROR(read_members(json));
    WL_RETURN_IF_ERROR(read_model(model_));
    WL_RETURN_IF_ERROR(read_added_tokens());
    WL_RETURN_IF_ERROR(read_steps());
    WL_RETURN_IF_ERROR(read_vocabulary());
    WL_RETURN_IF_ERROR(fill_model());
    return Tokenizer(std::move(parts_));
  }

 private:
  Status read_members(std::string_view json) {
    const Status walked =
        for_each_member(json, [this](std::string_view key, std::string_view value) -> Status {
          if (key == "model") {
            model_ = value;
            return {};
          }
          if (key != "added_tokens" && key != "normalizer" && key != "pre_tokenizer" &&
              key != "post_processor" && key != "decoder") {
            return {};
          }
          auto parsed = parse_json(value);
          if (!parsed.ok()) return parsed.error();
          parts_json_[std::string(key)] = std::move(parsed).value();
          return {};
        });
    return walked.ok() ? walked : as_format(walked.error());
  }

  Status read_model(std::string_view model) {
    if (model.empty()) return bad_format("has no model");
    std::string buffer;
    std::string type = "BPE";
    const Status walked =
        for_each_member(model, [&](std::string_view key, std::string_view value) -> Status {
          if (key == "vocab") {
            vocab_ = value;
          } else if (key == "merges") {
            merges_ = value;
          } else if (key == "type" || key == "unk_token" || key.ends_with("_prefix") ||
                     key.ends_with("_suffix")) {
            if (value == "null") return {};
            const auto text = json_string(value, &buffer);
            if (!text.ok()) return text.error();
            if (key == "type") {
              type = text.value();
            } else if (key == "unk_token") {
              unknown_ = text.value();
            } else if (!text.value().empty()) {
              return Error{ErrorCode::kTokenizerType,
                           "BPE with a " + std::string(key) + " is not supported"};
            }
          } else if (key == "ignore_merges") {
            parts_.model.ignore_merges = value == "true";
          } else if (key == "byte_fallback") {
            has_byte_fallback_ = value == "true";
          } else if (key == "fuse_unk") {
            parts_.model.fuses_unknown = value == "true";
          }
          return {};
        });
    if (!walked.ok()) return as_format(walked.error());
    if (type != "BPE") {
      return {ErrorCode::kTokenizerType,
              "tokenizer model " + quote_bytes(type) + " is not supported"};
    }
    if (vocab_.empty()) return bad_format("has no model with a vocab");
    if (merges_.empty()) return bad_format("has no merges");
    return {};
  }

  static std::optional<TokenId> token_id(int64_t id) {
    if (id < 0 || id >= kMaxTokens) return std::nullopt;
    return static_cast<TokenId>(id);
  }

  Status read_added_tokens() {
    const JsonArray* list = parts_json_["added_tokens"].as_array();
    if (list == nullptr) return {};
    std::vector<SpecialToken> special;
    for (const JsonValue& entry : *list) {
      const JsonValue* id_value = entry.find("id");
      const JsonValue* content = entry.find("content");
      const auto id = id_value != nullptr ? id_value->as_int() : std::nullopt;
      if (!id || !token_id(*id) || content == nullptr || content->as_string() == nullptr) {
        return bad_format("has an added token without its id or content");
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
    return {};
  }

  Status read_steps() {
    auto steps = read_text_steps(parts_json_["normalizer"], parts_json_["pre_tokenizer"]);
    if (!steps.ok()) return steps.error();
    const JsonValue& decoder = parts_json_["decoder"];
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

  Status read_vocabulary() {
    std::string arena;  // texts of the vocab, by offset until all are read
    struct Entry {
      size_t start, num_bytes;
      TokenId id;
    };
    std::vector<Entry> entries;
    arena.reserve(vocab_.size());
    const Status walked =
        for_each_member(vocab_, [&](std::string_view key, std::string_view value) -> Status {
          int64_t number = -1;
          const auto [end, error] = std::from_chars(value.begin(), value.end(), number);
          const auto id = token_id(number);
          if (error != std::errc() || end != value.end() || !id) {
            return bad_format("has a token " + quote_bytes(std::string(key)) +
                              " without a valid id");
          }
          entries.push_back({arena.size(), key.size(), *id});
          arena += key;
          return {};
        });
    if (!walked.ok()) return as_format(walked.error());
    size_t num_tokens = 0;
    for (const Entry& entry : entries) num_tokens = std::max(num_tokens, size_t(entry.id) + 1);
    for (const AddedToken& token : added_) num_tokens = std::max(num_tokens, size_t(token.id) + 1);
    texts_ = std::move(arena);
    tokens_.resize(num_tokens);
    for (const Entry& entry : entries) {
      ListedToken& token = tokens_[static_cast<size_t>(entry.id)];
      const std::string_view text = std::string_view(texts_).substr(entry.start, entry.num_bytes);
      if (!token.text.empty()) {
        return bad_format("gives the id " + std::to_string(entry.id) + " to " +
                          quote_bytes(std::string(token.text)) + " and to " +
                          quote_bytes(std::string(text)));
      }
      token.text = text;
    }
    return list_added_tokens();
  }

  /// An added token stands in place of what the vocab has under its id.
  Status list_added_tokens() {
    for (const AddedToken& token : added_) {
      tokens_[static_cast<size_t>(token.id)] = {token.text, token.is_special ? TokenRole::kControl
                                                            : is_reserved_text(token.text)
                                                                ? TokenRole::kReserved
                                                                : TokenRole::kText};
    }
    return {};
  }

  Status fill_model() {
    const auto spelling = is_byte_level_ ? Spelling::kByteLevel : Spelling::kSentencePiece;
    auto made = TokenTable::make(tokens_, spelling);
    if (!made.ok()) return made.error();
    TokenTable& table = made.value();
    BpeModel& model = parts_.model;
    model.merges = MergeTable(table.vocabulary.size() * 2);
    const Status walked =
        for_each_element(merges_, [&](std::string_view merge) { return read_merge(merge, table); });
    if (!walked.ok()) return as_format(walked.error());
    if (unknown_) model.unknown = table.find_text(*unknown_);
    const auto bos = bos_of_post_processor(parts_json_["post_processor"]);
    if (bos) parts_.facts.bos_id = table.find_text(*bos);
    parts_.facts.adds_bos = bos.has_value();
    if (!model.ignore_merges) parts_.space_cutter = table.space_cutter(tokens_);
    if (is_byte_level_ || has_byte_fallback_) model.byte_tokens = table.byte_tokens;
    model.vocabulary = std::move(table.vocabulary);
    parts_.token_bytes = std::move(table.token_bytes);
    return check_spells_all(model);
  }

  /// "left right" or ["left", "right"].
  Status read_merge(std::string_view merge, const TokenTable& table) {
    if (merge.starts_with('[')) {
      std::string_view halves[2];
      size_t num_halves = 0;
      WL_RETURN_IF_ERROR(for_each_element(merge, [&](std::string_view half) -> Status {
        if (num_halves == 2) return bad_format("has a merge that is not two tokens");
        const auto text = json_string(half, &buffers_[num_halves]);
        if (!text.ok()) return text.error();
        halves[num_halves++] = text.value();
        return {};
      }));
      if (num_halves != 2) return bad_format("has a merge that is not two tokens");
      return table.add_merge(halves[0], halves[1], &parts_.model.merges);
    }
    const auto text = json_string(merge, &buffers_[0]);
    if (!text.ok()) return text.error();
    const size_t space = text.value().find(' ', 1);
    if (space == std::string_view::npos) return bad_format("has a merge that is not two tokens");
    return table.add_merge(text.value().substr(0, space), text.value().substr(space + 1),
                           &parts_.model.merges);
  }

  std::map<std::string, JsonValue> parts_json_;
  std::string_view model_, vocab_, merges_;
  std::optional<std::string> unknown_;
  bool has_byte_fallback_ = false;
  bool is_byte_level_ = false;
  std::vector<AddedToken> added_;
  std::string texts_;
  std::vector<ListedToken> tokens_;  // by id; texts point into texts_ and added_
  std::string buffers_[2];           // of the halves of a merge
  TokenizerParts parts_;
};

}  // namespace

Result<Tokenizer> tokenizer_from_json(std::string_view json) {
  return JsonTokenizerReader().read(json);
}

}  // namespace wl::tokenizer
