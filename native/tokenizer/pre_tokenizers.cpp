#include "tokenizer/pre_tokenizers.h"

#include <map>

namespace wl::tokenizer {

#define WL_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define WL_SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define WL_PUNCTUATION " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
#define WL_WORD "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
// Tells upper from lower case: first a word that ends in lower case, then any other.
#define WL_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define WL_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define WL_CASED_WORDS(suffix)                                                                 \
  "[^\\r\\n\\p{L}\\p{N}]?" WL_UPPER "*" WL_LOWER "+" suffix "|[^\\r\\n\\p{L}\\p{N}]?" WL_UPPER \
  "+" WL_LOWER "*" suffix "|"
#define WL_CASED_PUNCTUATION "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|"

const char* const kGpt2Pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

namespace {

constexpr const char* kLlama3Pattern =
    WL_CONTRACTIONS "|" WL_WORD "\\p{N}{1,3}|" WL_PUNCTUATION WL_SPACES;
constexpr const char* kQwen2Pattern =
    WL_CONTRACTIONS "|" WL_WORD "\\p{N}|" WL_PUNCTUATION WL_SPACES;
constexpr const char* kQwen35Pattern = WL_CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" WL_SPACES;
constexpr const char* kTekkenPattern = WL_CASED_WORDS("") "\\p{N}" WL_CASED_PUNCTUATION WL_SPACES;
constexpr const char* kGpt4oPattern =
    WL_CASED_WORDS(WL_CONTRACTIONS "?") "\\p{N}{1,3}" WL_CASED_PUNCTUATION WL_SPACES;
constexpr const char* kBailingPattern =
    "'(?i:[sdmt]|ll|ve|re)|" WL_WORD "\\p{N}|" WL_PUNCTUATION "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+";
constexpr const char* kSeedCoderPattern =
    WL_CONTRACTIONS "|" WL_WORD "\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" WL_SPACES;
constexpr const char* kDeepseekWords =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?"
    "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" WL_SPACES;
constexpr const char* kThreeDigits = "[0-9][0-9][0-9]";

std::map<std::string, PreTokenizer> make_table() {
  std::map<std::string, PreTokenizer> table;
  const auto add = [&table](std::initializer_list<const char*> names, const PreTokenizer& rules) {
    for (const char* name : names) table.emplace(name, rules);
  };
  add({"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
      {.patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true});
  add({"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {.patterns = {kLlama3Pattern}});
  add({"qwen2"}, {.patterns = {kQwen2Pattern}, .nfc = true});
  add({"deepseek-r1-qwen", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"},
      {.patterns = {kQwen2Pattern}});
  add({"qwen35"}, {.patterns = {kQwen35Pattern}, .nfc = true});
  add({"gpt-2", "phi-2", "mpt", "olmo", "jais", "modern-bert", "roberta-bpe", "exaone4",
       "trillion"},
      {.patterns = {kGpt2Pattern}});
  add({"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b",
       "mellum2"},
      {.patterns = {"\\p{N}", kGpt2Pattern}});
  add({"tekken"}, {.patterns = {kTekkenPattern}, .ignore_merges = true, .add_bos = true});
  add({"gpt-4o", "llama4", "kanana2", "minimax-m2"}, {.patterns = {kGpt4oPattern}});
  add({"deepseek-v3", "hunyuan-dense", "joyai-llm"},
      {.patterns = {"\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", kDeepseekWords}});
  add({"deepseek-coder"}, {.patterns = {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+",
                                        "[一-龥ࠀ-一가-퟿]+", "\\p{N}"}});
  add({"falcon"}, {.patterns = {"[\\p{P}\\$\\+<=>\\^~\\|`]+", kGpt2Pattern, kThreeDigits}});
  add({"bailingmoe", "llada-moe"}, {.patterns = {kBailingPattern}});
  add({"seed-coder"}, {.patterns = {kSeedCoderPattern}});
  return table;
}

}  // namespace

bool is_default_pre_tokenizer(const std::optional<std::string>& name) {
  return !name || *name == "default";
}

Result<PreTokenizer> pre_tokenizer(const std::optional<std::string>& name) {
  if (is_default_pre_tokenizer(name)) {
    return PreTokenizer{
        .patterns = {"[\\p{P}\\$\\+<=>\\^~\\|]+", kGpt2Pattern, "\\p{N}+", kThreeDigits}};
  }
  static const std::map<std::string, PreTokenizer>* table =
      new std::map<std::string, PreTokenizer>(make_table());
  const auto found = table->find(*name);
  if (found != table->end()) return found->second;
  return Error{ErrorCode::kTokenizerType,
               "pre-tokenizer " + quote_bytes(*name) + " is not supported"};
}

}  // namespace wl::tokenizer
