#include "tokenizer/tokenizer_json.h"

#include <charconv>
#include <utility>

namespace wl::tokenizer {

namespace {

/// An error of the JSON reader, as one of the tokenizer.
Error as_tokenizer_error(const Error& error) {
  return error.code == ErrorCode::kModelFormat ? bad_tokenizer_json(error.message) : error;
}

class Walk {
 public:
  Walk(std::string_view text, TokenizerJson* out) : cursor_(text, &out->unescaped), out_(*out) {}

  Status run() {
    WL_RETURN_IF_ERROR(cursor_.for_each_member([&](std::string_view key) -> Status {
      if (key == "model") {
        out_.has_model = true;
        return cursor_.for_each_member(
            [&](std::string_view model_key) { return take_model_member(model_key); });
      }
      const auto value = cursor_.take_value();
      if (!value.ok()) return value.error();
      if (key != "added_tokens" && key != "normalizer" && key != "pre_tokenizer" &&
          key != "post_processor" && key != "decoder") {
        return {};
      }
      auto parsed = parse_json(value.value());
      if (!parsed.ok()) return parsed.error();
      out_.steps[std::string(key)] = std::move(parsed).value();
      return {};
    }));
    return cursor_.check_end();
  }

 private:
  Status take_model_member(std::string_view key) {
    if (key == "vocab") return take_long_part(&out_.vocab, [&] { return take_vocab(); });
    if (key == "merges") return take_long_part(&out_.merges, [&] { return take_merges(); });
    const auto value = cursor_.take_value();
    if (!value.ok()) return value.error();
    if (key == "type" || key == "unk_token" || key.ends_with("_prefix") ||
        key.ends_with("_suffix")) {
      return take_model_text(key, value.value());
    }
    if (key == "ignore_merges") out_.ignores_merges = value.value() == "true";
    if (key == "byte_fallback") out_.has_byte_fallback = value.value() == "true";
    if (key == "fuse_unk") out_.fuses_unknown = value.value() == "true";
    return {};
  }

  Status take_model_text(std::string_view key, std::string_view value) {
    if (value == "null") return {};
    const auto text = JsonCursor(value, &out_.unescaped).take_string();
    if (!text.ok()) return text.error();
    if (key == "type") {
      out_.type = text.value();
    } else if (key == "unk_token") {
      out_.unknown = text.value();
    } else if (!text.value().empty()) {
      return Error{ErrorCode::kTokenizerType,
                   "BPE with a " + std::string(key) + " is not supported"};
    }
    return {};
  }

  template <class Entry, class TakeEntries>
  Status take_long_part(LongPart<Entry>* part, TakeEntries take_entries) {
    part->is_there = true;
    part->entries.clear();
    const JsonCursor start = cursor_;
    const Status taken = take_entries();
    part->problem = taken.ok() ? taken : as_tokenizer_error(taken.error());
    if (taken.ok()) return {};
    cursor_ = start;
    const auto skipped = cursor_.take_value();
    return skipped.ok() ? Status() : skipped.error();
  }

  Status take_vocab() {
    return cursor_.for_each_member([&](std::string_view text) -> Status {
      const auto value = cursor_.take_value();
      if (!value.ok()) return value.error();
      const std::string_view digits = value.value();
      int64_t number = -1;
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
      const auto id = token_id(number);
      if (error != std::errc() || end != digits.end() || !id) {
        return bad_tokenizer_json("has a token " + quote_bytes(std::string(text)) +
                                  " without a valid id");
      }
      out_.vocab.entries.push_back({text, *id});
      return {};
    });
  }

  Status take_merges() {
    return cursor_.for_each_element([&] { return take_merge(); });
  }

  /// "left right" or ["left", "right"].
  Status take_merge() {
    std::string_view halves[2];
    size_t num_halves = 0;
    if (cursor_.starts_with('[')) {
      WL_RETURN_IF_ERROR(cursor_.for_each_element([&]() -> Status {
        const auto text = cursor_.take_string();
        if (!text.ok()) return text.error();
        if (num_halves < 2) halves[num_halves] = text.value();
        ++num_halves;
        return {};
      }));
    } else {
      const auto text = cursor_.take_string();
      if (!text.ok()) return text.error();
      const size_t space = text.value().find(' ', 1);
      if (space != std::string_view::npos) {
        halves[0] = text.value().substr(0, space);
        halves[1] = text.value().substr(space + 1);
        num_halves = 2;
      }
    }
    if (num_halves != 2) return bad_tokenizer_json("has a merge that is not two tokens");
    out_.merges.entries.push_back({halves[0], halves[1]});
    return {};
  }

  JsonCursor cursor_;
  TokenizerJson& out_;
};

}  // namespace

Error bad_tokenizer_json(const std::string& what) {
  return {ErrorCode::kTokenizerFormat, "tokenizer.json " + what};
}

std::optional<TokenId> token_id(int64_t number) {
  if (number < 0 || number >= kMaxTokens) return std::nullopt;
  return static_cast<TokenId>(number);
}

Status walk_tokenizer_json(std::string_view text, TokenizerJson* out) {
  const Status walked = Walk(text, out).run();
  return walked.ok() ? walked : as_tokenizer_error(walked.error());
}

}  // namespace wl::tokenizer
