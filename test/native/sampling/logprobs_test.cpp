#include "sampling/logprobs.h"

#include <cmath>
#include <limits>

#include "check.h"
#include "sampling/sampler.h"

using namespace wl::sampling;

WL_TEST("logprobs: a row has the token, then the most likely ones, equal ones by index") {
  const std::vector<float> logits = {0, 2, 1, 2, -1};
  LogprobRows rows;
  WL_CHECK(append_logprobs(logits, 4, 3, rows));
  WL_CHECK((rows.tokens == std::vector<int32_t>{4, 1, 3, 2}));
  double total = 0;
  for (const float logit : logits) total += std::exp(double{logit});
  for (size_t i = 0; i < rows.tokens.size(); ++i) {
    const double expected = double{logits[static_cast<size_t>(rows.tokens[i])]} - std::log(total);
    WL_CHECK(std::abs(rows.logprobs[i] - expected) < 1e-12);
  }
}

WL_TEST("logprobs: rows follow each other, without alternatives and with all of them") {
  const std::vector<float> logits = {3, 1, 2};
  LogprobRows rows;
  WL_CHECK(append_logprobs(logits, 1, 0, rows));
  WL_CHECK(append_logprobs(logits, 0, 3, rows));
  WL_CHECK((rows.tokens == std::vector<int32_t>{1, 0, 0, 2, 1}));
  WL_CHECK_EQ(rows.logprobs[1], rows.logprobs[2]);
}

WL_TEST("logprobs: huge logits neither overflow nor exceed 0, others give no row") {
  LogprobRows rows;
  WL_CHECK(append_logprobs(std::vector<float>{3e38f, -3e38f}, 0, 1, rows));
  WL_CHECK_EQ(rows.logprobs[0], 0.0);
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    WL_CHECK(!append_logprobs(std::vector<float>{0, bad}, 0, 1, rows));
  }
  WL_CHECK_EQ(rows.tokens.size(), size_t{2});
}

WL_TEST("sampler: a bias is added before all else, for greedy choices too") {
  const std::vector<float> logits = {1, 2, 3, 0};
  Sampler sampler;
  TokenHistory history;
  history.add_prompt(std::vector<int32_t>{0});
  SamplingParams params;
  params.logit_bias = {{2, -100}, {3, 2.5}};
  WL_CHECK_EQ(sampler.sample(logits, params, history, 0).value_or(-1), 3);
  // 1 + 9 = 10 is halved by the penalty: a bias behind it would win with 9.5.
  params.logit_bias = {{0, 9}, {1, 4}};
  params.repetition_penalty = 2;
  WL_CHECK_EQ(sampler.sample(logits, params, history, 0).value_or(-1), 1);
  // Only the tokens of the mask are drawn, however much the others are preferred.
  TokenMask mask(4);
  mask.allow(2);
  WL_CHECK_EQ(sampler.sample(logits, params, history, 0, &mask).value_or(-1), 2);
  params = {.temperature = 1, .seed = 3};
  params.logit_bias = {{1, 100}};
  for (uint32_t position = 0; position < 50; ++position) {
    WL_CHECK_EQ(sampler.sample(logits, params, history, position).value_or(-1), 1);
  }
}
