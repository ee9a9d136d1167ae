#include "tokenizer/json_tokenizer.h"

#include <algorithm>
#include <charconv>
#include <deque>
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

struct VocabEntry {
  std::string_view text;
  TokenId id;
};

/// A long part of the model, taken from the text in passing. A file of a kind that is not supported
/// is refused as that, so what is wrong with the part is told when its turn comes.
template <class Entry>
struct Part {
  bool is_there = false;
  std::vector<Entry> entries;
  Status problem;

  template <class TakeEntries>
  Status take(JsonCursor* cursor, TakeEntries take_entries) {
    is_there = true;
    const JsonCursor start = *cursor;
    problem = take_entries();
    if (problem.ok()) return {};
    *cursor = start;
    const auto skipped = cursor->take_value();
    return skipped.ok() ? Status() : skipped.error();
  }
};

class JsonTokenizerReader {
 public:
  Result<Tokenizer> read(std::string_view json) {
    if (json.size() > kMaxJsonBytes) return bad_format("is larger than 1 GiB");
    const Status walked = walk(json);
    if (!walked.ok()) return as_format(walked.error());
    WL_RETURN_IF_ERROR(check_model());
    WL_RETURN_IF_ERROR(read_added_tokens());
    WL_RETURN_IF_ERROR(read_steps());
    WL_RETURN_IF_ERROR(list_tokens());
    WL_RETURN_IF_ERROR(fill_model());
    return Tokenizer(std::move(parts_));
  }

 private:
  /// The whole text, once. Texts and numbers are taken from it here, and judged by the others.
  Status walk(std::string_view json) {
    JsonCursor cursor(json, &unescaped_);
    WL_RETURN_IF_ERROR(cursor.for_each_member([&](std::string_view key) -> Status {
      if (key == "model") {
        has_model_ = true;
        return cursor.for_each_member(
            [&](std::string_view model_key) { return take_model_member(model_key, &cursor); });
      }
      const auto value = cursor.take_value();
      if (!value.ok()) return value.error();
      if (key != "added_tokens" && key != "normalizer" && key != "pre_tokenizer" &&
          key != "post_processor" && key != "decoder") {
        return {};
      }
      auto parsed = parse_json(value.value());
      if (!parsed.ok()) return parsed.error();
      parts_json_[std::string(key)] = std::move(parsed).value();
      return {};
    }));
    return cursor.check_end();
  }

  Status take_model_member(std::string_view key, JsonCursor* cursor) {
    if (key == "vocab") return vocab_.take(cursor, [&] { return take_vocab(cursor); });
    if (key == "merges") return merges_.take(cursor, [&] { return take_merges(cursor); });
    const auto value = cursor->take_value();
    if (!value.ok()) return value.error();
    if (key == "type" || key == "unk_token" || key.ends_with("_prefix") ||
        key.ends_with("_suffix")) {
      return take_model_text(key, value.value());
    }
    if (key == "ignore_merges") parts_.model.ignore_merges = value.value() == "true";
    if (key == "byte_fallback") has_byte_fallback_ = value.value() == "true";
    if (key == "fuse_unk") parts_.model.fuses_unknown = value.value() == "true";
    return {};
  }

  Status take_model_text(std::string_view key, std::string_view value) {
    if (value == "null") return {};
    const auto text = JsonCursor(value, &unescaped_).take_string();
    if (!text.ok()) return text.error();
    if (key == "type") {
      type_ = text.value();
    } else if (key == "unk_token") {
      unknown_ = text.value();
    } else if (!text.value().empty()) {
      return Error{ErrorCode::kTokenizerType,
                   "BPE with a " + std::string(key) + " is not supported"};
    }
    return {};
  }

  Status take_vocab(JsonCursor* cursor) {
    vocab_.entries.clear();
    return cursor->for_each_member([&](std::string_view text) -> Status {
      const auto value = cursor->take_value();
      if (!value.ok()) return value.error();
      const std::string_view digits = value.value();
      int64_t number = -1;
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
      const auto id = token_id(number);
      if (error != std::errc() || end != digits.end() || !id) {
        return bad_format("has a token " + quote_bytes(std::string(text)) + " without a valid id");
      }
      vocab_.entries.push_back({text, *id});
      return {};
    });
  }

  Status take_merges(JsonCursor* cursor) {
    merges_.entries.clear();
    return cursor->for_each_element([&] { return take_merge(cursor); });
  }

  /// "left right" or ["left", "right"].
  Status take_merge(JsonCursor* cursor) {
    std::string_view halves[2];
    size_t num_halves = 0;
    if (cursor->starts_with('[')) {
      WL_RETURN_IF_ERROR(cursor->for_each_element([&]() -> Status {
        const auto text = cursor->take_string();
        if (!text.ok()) return text.error();
        if (num_halves < 2) halves[num_halves] = text.value();
        ++num_halves;
        return {};
      }));
    } else {
      const auto text = cursor->take_string();
      if (!text.ok()) return text.error();
      const size_t space = text.value().find(' ', 1);
      if (space != std::string_view::npos) {
        halves[0] = text.value().substr(0, space);
        halves[1] = text.value().substr(space + 1);
        num_halves = 2;
      }
    }
    if (num_halves != 2) return bad_format("has a merge that is not two tokens");
    merges_.entries.push_back({halves[0], halves[1]});
    return {};
  }

  Status check_model() const {
    if (!has_model_) return bad_format("has no model");
    if (type_ != "BPE") {
      return {ErrorCode::kTokenizerType,
              "tokenizer model " + quote_bytes(type_) + " is not supported"};
    }
    if (!vocab_.is_there) return bad_format("has no model with a vocab");
    if (!merges_.is_there) return bad_format("has no merges");
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
    return parts_.special_tokens.check_lengths();
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

  Status list_tokens() {
    if (!vocab_.problem.ok()) return as_format(vocab_.problem.error());
    size_t num_tokens = 0;
    for (const VocabEntry& entry : vocab_.entries) {
      num_tokens = std::max(num_tokens, size_t(entry.id) + 1);
    }
    for (const AddedToken& token : added_) num_tokens = std::max(num_tokens, size_t(token.id) + 1);
    tokens_.resize(num_tokens);
    for (const auto& [text, id] : vocab_.entries) {
      ListedToken& token = tokens_[static_cast<size_t>(id)];
      if (!token.text.empty()) {
        return bad_format("gives the id " + std::to_string(id) + " to " +
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
    if (!merges_.problem.ok()) return as_format(merges_.problem.error());
    auto merges = table.merge_table(merges_.entries);
    if (!merges.ok()) return merges.error();
    model.merges = std::move(merges).value();
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

  std::deque<std::string> unescaped_;  // texts that are not in the file as they are
  std::map<std::string, JsonValue> parts_json_;
  bool has_model_ = false;
  std::string type_ = "BPE";
  Part<VocabEntry> vocab_;
  Part<ListedMerge> merges_;
  std::optional<std::string> unknown_;
  bool has_byte_fallback_ = false;
  bool is_byte_level_ = false;
  std::vector<AddedToken> added_;
  std::vector<ListedToken> tokens_;  // by id; texts point into the file, unescaped_ and added_
  TokenizerParts parts_;
};

}  // namespace

Result<Tokenizer> tokenizer_from_json(std::string_view json) {
  return JsonTokenizerReader().read(json);
}

}  // namespace wl::tokenizer
