#include "tokenizer/shared_tokenizer.h"

#include <thread>

#include "check.h"
#include "golden_file.h"

using wl::tokenizer::shared_tokenizer;
using wl::tokenizer::Tokenizer;

namespace {

constexpr size_t kThreads = 4;

using Shared = std::shared_ptr<const Tokenizer>;

std::string folder() { return wl::test::golden_path("tokenizers/llama-spm"); }

/// Words that repeat, numbers that do not: pieces from the cache and pieces that are merged.
std::string text() {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "the cat counts to " + std::to_string(i) + "\n";
  return text;
}

template <class Body>
void run_on_threads(const Body& body) {
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

WL_TEST("shared tokenizer: threads that open one file share what one of them read") {
  std::vector<Shared> opened(kThreads);
  run_on_threads([&](size_t thread) {
    auto tokenizer = shared_tokenizer(folder());
    if (tokenizer.ok()) opened[thread] = std::move(tokenizer).value();
  });
  for (const Shared& tokenizer : opened) WL_CHECK(tokenizer != nullptr && tokenizer == opened[0]);
}

WL_TEST("shared tokenizer: threads that encode at the same time get the same ids") {
  const auto tokenizer = shared_tokenizer(folder());
  WL_CHECK(tokenizer.ok());
  const auto expected = tokenizer.value()->encode(text(), {});
  std::vector<std::vector<wl::tokenizer::TokenId>> ids(kThreads);
  run_on_threads([&](size_t thread) { ids[thread] = tokenizer.value()->encode(text(), {}); });
  for (const auto& own : ids) WL_CHECK(own == expected);
}

WL_TEST("shared tokenizer: the last owner frees it, and a file opens again") {
  std::weak_ptr<const Tokenizer> watched = shared_tokenizer(folder()).value();
  WL_CHECK(watched.expired());
  WL_CHECK(shared_tokenizer(folder()).ok());
}
