#include "tokenizer/json_tokenizer.h"

#include "base/json.h"
#include "check.h"
#include "golden_file.h"
#include "loader/expect_error.h"

using wl::JsonValue;
using wl::tokenizer::EncodeOptions;
using wl::tokenizer::TokenId;
using wl::tokenizer::tokenizer_from_json;

namespace {

using Ids = std::vector<TokenId>;

struct Json {
  std::string vocab = R"({"a": 0, "b": 1, "ab": 2, "▁": 3, "▁a": 4, "<s>": 5, "c": 6})";
  std::string merges = R"(["a b", ["▁", "a"]])";
  std::string added = R"([{"id": 5, "content": "<s>", "special": true}])";
  std::string normalizer = "null";
  std::string pre_tokenizer = "null";
  std::string post_processor = "null";
  std::string model_fields = R"("unk_token": "c")";

  std::string text() const {
    return R"({"version": "1.0", "added_tokens": )" + added + R"(, "normalizer": )" + normalizer +
           R"(, "pre_tokenizer": )" + pre_tokenizer + R"(, "post_processor": )" + post_processor +
           R"(, "decoder": null, "model": {"type": "BPE", )" + model_fields + R"(, "vocab": )" +
           vocab + R"(, "merges": )" + merges + "}}";
  }
};

Ids encode(const Json& json, const std::string& text, const EncodeOptions& options = {}) {
  const auto tokenizer = tokenizer_from_json(json.text());
  return tokenizer.ok() ? tokenizer.value().encode(text, options) : Ids{-1};
}

}  // namespace

WL_TEST("tokenizer.json: golden ids of whole vocabularies") {
  for (const char* name : {"llama-spm", "llama3-rope"}) {
    const std::string folder = wl::test::golden_path(std::string("tokenizers/") + name);
    const auto tokenizer = tokenizer_from_json(*wl::test::read_file(folder + "/tokenizer.json"));
    WL_CHECK(tokenizer.ok());
    const auto golden = wl::parse_json(*wl::test::read_file(folder + "/golden.json"));
    WL_CHECK(golden.ok());
    for (const JsonValue& entry : *golden.value().find("cases")->as_array()) {
      Ids expected;
      for (const JsonValue& id : *entry.find("ids")->as_array()) {
        expected.push_back(static_cast<TokenId>(*id.as_int()));
      }
      const std::string& text = *entry.find("text")->as_string();
      const Ids ids =
          tokenizer.value().encode(text, {.control_tokens = EncodeOptions::ControlTokens::kParsed});
      if (ids != expected) wl::test::report_failure(__FILE__, __LINE__, wl::quote_bytes(text));
    }
  }
}

WL_TEST("tokenizer.json: merges in both spellings, BOS of the post-processor") {
  Json json;
  json.post_processor =
      R"({"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing",
          "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}]}]})";
  WL_CHECK(encode(json, "ab▁a") == (Ids{2, 4}));
  const auto tokenizer = tokenizer_from_json(json.text());
  WL_CHECK(tokenizer.value().facts().bos_id == std::optional<TokenId>(5));
  WL_CHECK(tokenizer.value().facts().adds_bos);
}

WL_TEST("tokenizer.json: Metaspace puts a space in front of all texts, the first, or none") {
  const auto with_scheme = [](const std::string& scheme) {
    Json json;
    json.pre_tokenizer = R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": ")" +
                         scheme + R"(", "split": false})";
    return json;
  };
  const EncodeOptions parsed = {.control_tokens = EncodeOptions::ControlTokens::kParsed};
  WL_CHECK(encode(with_scheme("always"), "a<s>a", parsed) == (Ids{4, 5, 4}));
  WL_CHECK(encode(with_scheme("first"), "a<s>a", parsed) == (Ids{4, 5, 0}));
  WL_CHECK(encode(with_scheme("first"), "a", {.starts_prompt = false}) == (Ids{0}));
  WL_CHECK(encode(with_scheme("never"), "a", parsed) == (Ids{0}));
}

WL_TEST("tokenizer.json: added tokens take the white space that their flags say") {
  Json json;
  json.added = R"([{"id": 5, "content": "<s>", "special": true, "lstrip": true, "rstrip": true}])";
  const EncodeOptions parsed = {.control_tokens = EncodeOptions::ControlTokens::kParsed};
  WL_CHECK(encode(json, "a \n<s>\xc2\xa0 b", parsed) == (Ids{0, 5, 1}));
}

WL_TEST("tokenizer.json: steps and kinds that are not known are refused by name") {
  const auto expect = [](const std::string& text, const char* piece) {
    WL_EXPECT_ERROR(tokenizer_from_json(text), "ERR_TOKENIZER_TYPE", piece);
  };
  Json json;
  json.normalizer = R"({"type": "Lowercase"})";
  expect(json.text(), "normalizer \"Lowercase\" is not supported");
  json = {};
  json.pre_tokenizer = R"({"type": "BertPreTokenizer"})";
  expect(json.text(), "pre-tokenizer \"BertPreTokenizer\" is not supported");
  json = {};
  json.pre_tokenizer = R"({"type": "Split", "pattern": {"Regex": "\\d+"}, "behavior": "Isolated"})";
  expect(json.text(), "has an unknown escape");
  json = {};
  json.model_fields = R"("end_of_word_suffix": "</w>")";
  expect(json.text(), "end_of_word_suffix");
  expect(R"({"model": {"type": "Unigram", "vocab": [["a", 0]]}})",
         "tokenizer model \"Unigram\" is not supported");
}

WL_TEST("tokenizer.json: steps that would make a text ever longer are refused") {
  const auto expect_refused = [](const std::string& step, int num_steps) {
    Json json;
    json.normalizer = R"({"type": "Sequence", "normalizers": [)" + step;
    for (int i = 1; i < num_steps; ++i) json.normalizer += ", " + step;
    json.normalizer += "]}";
    WL_EXPECT_ERROR(tokenizer_from_json(json.text()), "ERR_TOKENIZER_TYPE", "normalizer");
  };
  expect_refused(R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aaaa"})", 1);
  expect_refused(R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})", 40);
  expect_refused(R"({"type": "Replace", "pattern": {"String": "a"}, "content": "b"})", 40);
  expect_refused(R"({"type": "Prepend", "prepend": "▁"})", 40);
  Json json;
  json.pre_tokenizer = R"({"type": "Sequence", "pretokenizers": [{"type": "Digits"})";
  for (int i = 0; i < 40; ++i) json.pre_tokenizer += R"(, {"type": "Digits"})";
  json.pre_tokenizer += "]}";
  WL_EXPECT_ERROR(tokenizer_from_json(json.text()), "ERR_TOKENIZER_TYPE", "pre-tokenizer");
}

WL_TEST("tokenizer.json: damaged files are errors, whatever is cut or mangled") {
  const auto expect = [](const Json& json, const char* piece) {
    WL_EXPECT_ERROR(tokenizer_from_json(json.text()), "ERR_TOKENIZER_FORMAT", piece);
  };
  Json json;
  json.vocab = R"({"a": 0, "b": 0})";
  expect(json, "gives the id 0 to \"a\" and to \"b\"");
  json.vocab = R"({"a": -1})";
  expect(json, "without a valid id");
  json.vocab = R"({"a": 99999999})";
  expect(json, "without a valid id");
  json.vocab = R"({"a": 0, "a": 1})";
  expect(json, "the token \"a\" twice");
  json.vocab = "{}";
  json.added = "[]";
  expect(json, "the vocabulary is empty");
  json = {};
  json.merges = R"(["a z"])";
  expect(json, "a merge names the token \"z\"");
  json.merges = R"(["ab"])";
  expect(json, "not two tokens");
  json.merges = R"([["a", "b", "c"]])";
  expect(json, "not two tokens");
  json = {};
  json.added = R"([{"content": "<s>"}])";
  expect(json, "an added token without its id or content");
  json.added = R"([{"id": 5, "content": ")" + std::string(257, '<') + R"("}])";
  expect(json, "token 5, a control or added one, has 257 bytes");
  json = {};
  json.model_fields = R"("unk_token": null)";
  expect(json, "no token of a byte and no unknown token");
  const std::string whole = Json{}.text();
  for (size_t length = 0; length < whole.size(); ++length) {
    WL_CHECK(!tokenizer_from_json(whole.substr(0, length)).ok());
  }
}
