#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/unicode.h"

namespace wl::tokenizer {

namespace {

// The breaks of src/text/guard.ts: U+FDD0 escapes itself and, with U+FDD1, is a break.
constexpr std::string_view kGuardEscape = "\xef\xb7\x90";
constexpr std::string_view kGuardBreak = "\xef\xb7\x91";

/// The text as it was before it was guarded.
std::string_view unguard(std::string_view text, std::string* buffer) {
  size_t at = text.find(kGuardEscape);
  if (at == std::string_view::npos) return text;
  buffer->clear();
  size_t done = 0;
  for (; at != std::string_view::npos; at = text.find(kGuardEscape, done)) {
    const std::string_view next = text.substr(at + kGuardEscape.size(), kGuardEscape.size());
    *buffer += text.substr(done, at - done);
    done = at + kGuardEscape.size();
    if (next == kGuardEscape || next == kGuardBreak) done += next.size();
    if (next != kGuardBreak) *buffer += kGuardEscape;
  }
  *buffer += text.substr(done);
  return *buffer;
}

bool is_space_at(std::string_view text, size_t pos) {
  return category_of(char_at(text, pos).code_point) == CharCategory::kSpace;
}

std::string_view strip_left(std::string_view text) {
  while (!text.empty() && is_space_at(text, 0)) text.remove_prefix(char_at(text, 0).num_bytes);
  return text;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    const size_t last = char_before(text, text.size());
    if (!is_space_at(text, last)) break;
    text = text.substr(0, last);
  }
  return text;
}

SpecialTokens only(const SpecialTokens& tokens, bool is_control) {
  std::vector<SpecialToken> kept;
  std::ranges::copy_if(tokens.all(), std::back_inserter(kept),
                       [is_control](const auto& token) { return token.is_control == is_control; });
  return SpecialTokens(std::move(kept));
}

}  // namespace

struct Tokenizer::Scratch {
  BpeScratch bpe;  // its cache holds pieces of this tokenizer
  std::vector<Piece> pieces;
  std::string unguarded;
  std::string rewritten;
};

/// As many as there were encodings at one time.
struct Tokenizer::ScratchPool {
  std::mutex mutex;
  std::vector<std::unique_ptr<Scratch>> idle;

  std::unique_ptr<Scratch> take() {
    const std::lock_guard<std::mutex> lock(mutex);
    if (idle.empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> scratch = std::move(idle.back());
    idle.pop_back();
    return scratch;
  }

  void give_back(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(std::move(scratch));
  }
};

/// One call of encode().
class Tokenizer::Encoding {
 public:
  explicit Encoding(const Tokenizer& tokenizer)
      : tokenizer_(tokenizer), scratch_(tokenizer.scratch_pool_->take()) {}
  ~Encoding() { tokenizer_.scratch_pool_->give_back(std::move(scratch_)); }
  Encoding(const Encoding&) = delete;
  Encoding& operator=(const Encoding&) = delete;

  std::vector<TokenId> run(std::string_view text, const EncodeOptions& options) {
    using ControlTokens = EncodeOptions::ControlTokens;
    if (options.control_tokens == ControlTokens::kGuarded) {
      const auto encode_between = [this](std::string_view between, bool is_at_start) {
        encode_guarded(between, is_at_start);
      };
      split(text, tokenizer_.control_tokens_, options.starts_prompt, encode_between);
    } else {
      const bool is_parsed = options.control_tokens == ControlTokens::kParsed;
      encode_plain(text, is_parsed ? tokenizer_.parts_.special_tokens : tokenizer_.text_tokens_,
                   options.starts_prompt);
    }
    return std::move(ids_);
  }

 private:
  /// Pushes the special tokens and hands on the texts between them.
  template <class EncodeBetween>
  void split(std::string_view text, const SpecialTokens& tokens, bool starts_prompt,
             EncodeBetween encode_between) {
    size_t start = 0;
    bool strips_start = false;
    const auto push_between = [&](size_t end, bool strips_end) {
      std::string_view between = text.substr(start, end - start);
      if (strips_start) between = strip_left(between);
      if (strips_end) between = strip_right(between);
      if (!between.empty()) encode_between(between, starts_prompt && start == 0);
    };
    for (auto found = tokens.find(text, 0); found; found = tokens.find(text, start)) {
      push_between(found->start, found->token->strips_left);
      ids_.push_back(found->token->id);
      start = found->end;
      strips_start = found->token->strips_right;
    }
    push_between(text.size(), false);
  }

  void encode_guarded(std::string_view text, bool is_at_start) {
    encode_plain(unguard(text, &scratch_->unguarded), tokenizer_.text_tokens_, is_at_start);
  }

  void encode_plain(std::string_view text, const SpecialTokens& tokens, bool is_at_start) {
    split(text, tokens, is_at_start, [this](std::string_view between, bool is_between_at_start) {
      encode_text(between, is_between_at_start);
    });
  }

  void encode_text(std::string_view text, bool is_at_start) {
    const TokenizerParts& parts = tokenizer_.parts_;
    const std::string_view rewritten =
        parts.rewriter.rewrite(text, is_at_start, &scratch_->rewritten);
    parts.splitter.split(rewritten, &scratch_->pieces);
    if (parts.space_cutter) parts.space_cutter->cut(rewritten, &scratch_->pieces);
    for (const Piece& piece : scratch_->pieces) {
      const std::string_view bytes = rewritten.substr(piece.start, piece.end - piece.start);
      scratch_->bpe.encode(parts.model, bytes, &ids_);
    }
  }

  const Tokenizer& tokenizer_;
  std::unique_ptr<Scratch> scratch_;
  std::vector<TokenId> ids_;
};

Tokenizer::Tokenizer(TokenizerParts parts)
    : parts_(std::move(parts)),
      control_tokens_(only(parts_.special_tokens, true)),
      text_tokens_(only(parts_.special_tokens, false)),
      scratch_pool_(std::make_unique<ScratchPool>()) {}

Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  return Encoding(*this).run(text, options);
}

std::optional<TokenId> Tokenizer::find(std::string_view text) const {
  if (const SpecialToken* token = parts_.special_tokens.find_text(text)) return token->id;
  return parts_.model.vocabulary.find(text);
}

}  // namespace wl::tokenizer
