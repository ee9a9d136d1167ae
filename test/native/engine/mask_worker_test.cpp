#include "engine/mask_worker.h"

#include "toy_grammar.h"

using namespace wl::test;
using wl::engine::MaskWorker;
using wl::engine::OutputGrammar;
using wl::sampling::TokenMask;

static std::vector<OutputGrammar> various_grammars() {
  std::vector<OutputGrammar> grammars;
  for (const ToyGrammar& grammar : {toy_object(), toy_letters(), toy_phrase()}) {
    grammars.emplace_back(grammar, std::vector<int32_t>{kToyEnd}, kToyVocab);
  }
  grammars.push_back(grammars[1]);
  WL_CHECK(grammars.back().accept(0));
  return grammars;
}

WL_TEST("mask worker: masks are those of their grammars, in whatever order they are asked for") {
  MaskWorker worker(kToyVocab);
  const std::vector<OutputGrammar> grammars = various_grammars();
  for (int step = 0; step < 200; ++step) {
    MaskWorker::Batch batch = worker.start({&grammars[0], &grammars[1], &grammars[3]});
    for (const size_t idx : {size_t{3}, size_t{0}, size_t{1}}) {
      TokenMask expected(kToyVocab);
      grammars[idx].fill_mask(expected);
      WL_CHECK(std::ranges::equal(batch.mask_of(grammars[idx]).words(), expected.words()));
    }
  }
}

WL_TEST("mask worker: a batch that nobody asks waits until its grammars are read") {
  MaskWorker worker(kToyVocab);
  for (int step = 0; step < 200; ++step) {
    const std::vector<OutputGrammar> grammars = various_grammars();
    const MaskWorker::Batch batch = worker.start({&grammars[0], &grammars[1], &grammars[2]});
  }  // the batch goes before its grammars
  const MaskWorker::Batch empty = worker.start({});
}

WL_TEST("mask worker: what a computation throws reaches who asks for the mask") {
  MaskWorker worker(8);  // fewer tokens than the grammar has
  const std::vector<OutputGrammar> grammars = various_grammars();
  MaskWorker::Batch batch = worker.start({&grammars[0], &grammars[1]});
  bool has_thrown = false;
  try {
    batch.mask_of(grammars[1]);
  } catch (const wl::InternalError&) {
    has_thrown = true;
  }
  WL_CHECK(has_thrown);
}

WL_TEST("grammar: copies stand on their own, so drafts can be tried and taken back") {
  OutputGrammar here(toy_object(), {kToyEnd}, kToyVocab);
  const Tokens text = toy_tokenizer()->encode("{\"name\":\"abc\",\"kind\":12", {});
  for (const int32_t token : text) WL_CHECK(here.accept(token));
  TokenMask before(kToyVocab), after(kToyVocab);
  here.fill_mask(before);
  // Four drafted positions, of which the third is wrong.
  OutputGrammar draft = here;
  std::vector<OutputGrammar> positions = {draft};
  for (const int32_t token : toy_tokenizer()->encode(",\"name\":", {})) {
    WL_CHECK(draft.accept(token));
    positions.push_back(draft);
  }
  WL_CHECK(!draft.accept(0));  // no letter; and nothing changed
  TokenMask of_draft(kToyVocab), of_last(kToyVocab);
  draft.fill_mask(of_draft);
  positions.back().fill_mask(of_last);
  WL_CHECK(std::ranges::equal(of_draft.words(), of_last.words()));
  here.fill_mask(after);
  WL_CHECK(std::ranges::equal(before.words(), after.words()));
}
