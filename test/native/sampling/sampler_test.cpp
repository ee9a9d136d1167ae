#include "sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "base/json.h"
#include "check.h"
#include "golden_file.h"

using namespace wl::sampling;

using Logits = std::vector<double>;

static Logits numbers(const wl::JsonValue& array) {
  Logits out;
  for (const wl::JsonValue& value : *array.as_array()) out.push_back(*value.as_number());
  return out;
}

static double number_or(const wl::JsonValue& object, const char* key, double fallback) {
  const wl::JsonValue* value = object.find(key);
  return value == nullptr ? fallback : *value->as_number();
}

/// The parameters of one case: {"top_k": 5}, or {"chain": ["temperature 0.8", ...]}.
static SamplingParams params_of(const wl::JsonValue& op) {
  std::map<std::string, double> named;
  if (const wl::JsonValue* chain = op.find("chain")) {
    for (const wl::JsonValue& link : *chain->as_array()) {
      std::istringstream words(*link.as_string());
      std::string name;
      words >> name;
      words >> named[name];
    }
  }
  const auto value = [&](const char* key, double neutral) {
    return named.contains(key) ? named[key] : number_or(op, key, neutral);
  };
  SamplingParams params;
  params.temperature = value("temperature", 1);
  params.top_k = static_cast<int>(value("top_k", 0));
  params.top_p = value("top_p", 1);
  params.min_p = value("min_p", 0);
  params.repetition_penalty = value("repetition_penalty", 1);
  params.frequency_penalty = value("frequency_penalty", 0);
  params.presence_penalty = value("presence_penalty", 0);
  return params;
}

static wl::JsonValue read_filters() {
  const auto text = wl::test::read_file(wl::test::golden_path("sampling/filters.json"));
  auto parsed = wl::parse_json(text.value_or(""));
  if (!parsed.ok()) {
    WL_CHECK_EQ(parsed.error().message, "");
    return {};
  }
  return std::move(parsed).value();
}

WL_TEST("sampler: every filter case of the fixture keeps its tokens with its probabilities") {
  const wl::JsonValue fixture = read_filters();
  Sampler sampler;
  int num_cases = 0;
  for (const wl::JsonValue& test_case : *fixture.find("cases")->as_array()) {
    const wl::JsonValue& op = *test_case.find("op");
    Logits logits = numbers(*fixture.find("logits")->find(*test_case.find("logits")->as_string()));
    const SamplingParams params = params_of(op);
    if (const wl::JsonValue* tokens = op.find("history")) {
      TokenHistory history;
      for (const double token : numbers(*tokens)) history.add_output(static_cast<int32_t>(token));
      history.apply_penalties(params, logits);
    }
    const Candidates& candidates = sampler.filter(logits, params);
    double total = 0;
    for (const double weight : candidates.weights) total += weight;
    const Logits kept = numbers(*test_case.find("kept"));
    const Logits probabilities = numbers(*test_case.find("probs"));
    WL_CHECK_EQ(candidates.tokens.size(), kept.size());
    for (size_t i = 0; i < std::min(kept.size(), candidates.tokens.size()); ++i) {
      WL_CHECK_EQ(candidates.tokens[i], static_cast<int32_t>(kept[i]));
      const double probability = candidates.weights[i] / total;
      const double expected = probabilities[static_cast<size_t>(candidates.tokens[i])];
      // Another exp and another order of the sum: a few ulps.
      WL_CHECK(std::abs(probability - expected) <= 1e-13 * expected);
    }
    ++num_cases;
  }
  WL_CHECK_EQ(num_cases, 86);
}

WL_TEST("sampler: every draw of the fixture takes its token") {
  const wl::JsonValue fixture = read_filters();
  Sampler sampler;
  SamplingParams params;
  params.temperature = 1;
  for (const wl::JsonValue& test_case : *fixture.find("inverse_cdf")->as_array()) {
    Logits logits = numbers(*fixture.find("logits")->find(*test_case.find("logits")->as_string()));
    const Candidates& candidates = sampler.filter(logits, params);
    const Logits uniforms = numbers(*test_case.find("u"));
    const Logits tokens = numbers(*test_case.find("tokens"));
    for (size_t i = 0; i < uniforms.size(); ++i) {
      WL_CHECK_EQ(draw(candidates, uniforms[i]), static_cast<int32_t>(tokens[i]));
    }
  }
}

WL_TEST("sampler: uniforms are those of the specification") {
  WL_CHECK_EQ(uniform(42, 0, DrawPurpose::kTarget), 0.6129598810803145);
  WL_CHECK_EQ(uniform(42, 17, DrawPurpose::kTarget), 0.09665618604049087);
  WL_CHECK_EQ(uniform((uint64_t{1} << 32) + 7, 100000, DrawPurpose::kTarget), 0.7154688558075577);
}

WL_TEST("sampler: top-k and top-p break ties by the lower index") {
  Sampler sampler;
  SamplingParams params;
  params.temperature = 1;
  params.top_k = 2;
  Logits logits = {1, 3, 2, 3, 3};
  WL_CHECK((sampler.filter(logits, params).tokens == std::vector<int32_t>{1, 3}));
  params.top_k = 0;
  params.top_p = 0.5;  // two of three equal tokens: the mass before the second is about 0.3
  WL_CHECK((sampler.filter(logits, params).tokens == std::vector<int32_t>{1, 3}));
}

WL_TEST("sampler: filters over a large vocabulary equal a plain full sort") {
  std::mt19937 rng(11);
  std::normal_distribution<double> normal(0, 3);
  Sampler sampler;
  for (const double top_p : {0.05, 0.5, 0.9, 0.999}) {
    for (const int top_k : {0, 1, 40, 1999}) {
      Logits logits(2000);
      for (double& logit : logits) logit = std::round(normal(rng) * 8) / 8;  // many ties
      SamplingParams params;
      params.temperature = 1;
      params.top_k = top_k;
      params.top_p = top_p;
      std::vector<int32_t> order(logits.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
      });
      if (top_k > 0) order.resize(static_cast<size_t>(top_k));
      double total = 0, mass_before = 0;
      for (const int32_t token : order) total += std::exp(logits[static_cast<size_t>(token)]);
      size_t num_kept = 0;
      while (num_kept < order.size() && (num_kept == 0 || mass_before < top_p * total)) {
        mass_before += std::exp(logits[static_cast<size_t>(order[num_kept++])]);
      }
      order.resize(num_kept);
      std::sort(order.begin(), order.end());
      WL_CHECK(sampler.filter(logits, params).tokens == order);
    }
  }
}

WL_TEST("sampler: greedy takes the lowest index of the largest logit") {
  std::vector<float> logits(1000, -1.0f);
  WL_CHECK_EQ(*argmax(logits), 0);
  logits[700] = logits[300] = logits[999] = 2.5f;
  WL_CHECK_EQ(*argmax(logits), 300);
  logits[5] = 2.5f;
  WL_CHECK_EQ(*argmax(logits), 5);
  SamplingParams params;
  params.temperature = 0.7;
  params.top_p = 0;  // as good as temperature 0
  Sampler sampler;
  WL_CHECK_EQ(*sampler.sample(logits, params, {}, 0), 5);
}

WL_TEST("sampler: a logit that is not finite is never sampled from") {
  Sampler sampler;
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const size_t at : {size_t{0}, size_t{300}, size_t{599}}) {
      std::vector<float> logits(600, 1.0f);
      logits[at] = bad;
      SamplingParams params;
      WL_CHECK(!sampler.sample(logits, params, {}, 3).has_value());
      params.temperature = 1;
      WL_CHECK(!sampler.sample(logits, params, {}, 3).has_value());
    }
  }
}

WL_TEST("sampler: penalties also apply to greedy requests") {
  Sampler sampler;
  SamplingParams params;
  params.presence_penalty = 1.5;
  TokenHistory history;
  history.add_output(2);
  const std::vector<float> logits = {0, 1, 2, 0.75f};
  WL_CHECK_EQ(*sampler.sample(logits, params, history, 4), 1);
  TokenHistory prompt_only;
  const std::vector<int32_t> prompt = {2};
  prompt_only.add_prompt(prompt);  // presence counts the output only
  WL_CHECK_EQ(*sampler.sample(logits, params, prompt_only, 4), 2);
}

/// Greedy, sampled, with each filter, with penalties.
static std::vector<SamplingParams> various_params() {
  std::vector<SamplingParams> all = {
      {},
      {.temperature = 1},
      {.temperature = 0.7, .top_k = 5},
      {.temperature = 1.3, .top_p = 0.8},
      {.temperature = 1.3, .min_p = 0.2},
      {.presence_penalty = 1.5},
      {.temperature = 1, .top_k = 900, .top_p = 0.95, .frequency_penalty = 0.5},
  };
  for (SamplingParams& params : all) params.seed = 99;
  return all;
}

static std::vector<float> random_logits(std::mt19937& rng, size_t n) {
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(rng);
  return logits;
}

WL_TEST("sampler: a mask that allows every token changes nothing") {
  std::mt19937 rng(5);
  Sampler sampler;
  TokenHistory history;
  for (const int32_t token : {3, 3, 90}) history.add_output(token);
  for (const size_t vocab : {size_t{1}, size_t{31}, size_t{32}, size_t{33}, size_t{1000}}) {
    TokenMask all(vocab);
    for (size_t token = 0; token < vocab; ++token) all.allow(static_cast<int32_t>(token));
    const auto logits = random_logits(rng, vocab);
    for (const SamplingParams& params : various_params()) {
      if (params.has_penalties() && vocab <= 90) continue;  // the history has token 90
      for (uint32_t position = 0; position < 20; ++position) {
        WL_CHECK(sampler.sample(logits, params, history, position, &all) ==
                 sampler.sample(logits, params, history, position));
      }
    }
  }
}

WL_TEST("sampler: a masked draw is the draw from logits of which the others are lost") {
  std::mt19937 rng(6);
  Sampler sampler;
  TokenHistory history;
  for (const int32_t token : {1, 2, 2, 40}) history.add_output(token);
  for (int round = 0; round < 200; ++round) {
    const size_t vocab = 64 + rng() % 200;
    const auto logits = random_logits(rng, vocab);
    TokenMask allowed(vocab);
    const unsigned one_in = 1 + static_cast<unsigned>(rng() % 60);
    for (size_t token = 0; token < vocab; ++token) {
      if (rng() % one_in == 0) allowed.allow(static_cast<int32_t>(token));
    }
    allowed.allow(static_cast<int32_t>(rng() % vocab));
    std::vector<float> lost = logits;
    for (size_t token = 0; token < vocab; ++token) {
      if (!allowed.allows(static_cast<int32_t>(token))) lost[token] = -1e30f;
    }
    for (const SamplingParams& params : various_params()) {
      const auto token = sampler.sample(logits, params, history, 7, &allowed);
      WL_CHECK(token.has_value() && allowed.allows(*token));
      // Top-k takes masked tokens too when fewer are left, but their weight is 0.
      WL_CHECK(token == sampler.sample(lost, params, history, 7));
    }
  }
}

WL_TEST("sampler: greedy over a mask takes the lowest index of the largest allowed logit") {
  std::vector<float> logits(1000, 1.0f);
  TokenMask allowed(logits.size());
  WL_CHECK(allowed.is_empty());
  for (const int32_t token : {999, 700, 64, 63}) allowed.allow(token);
  WL_CHECK_EQ(*argmax(logits, allowed), 63);
  logits[62] = 9.0f;
  logits[700] = logits[999] = 2.0f;
  WL_CHECK_EQ(*argmax(logits, allowed), 700);
  logits[5] = std::numeric_limits<float>::quiet_NaN();  // a broken row is broken everywhere
  WL_CHECK(!argmax(logits, allowed).has_value());
  allowed.clear();
  WL_CHECK(allowed.is_empty());
}

WL_TEST("sampler: parameters out of range are refused by name") {
  const auto refuses = [](auto change, const std::string& name) {
    SamplingParams params;
    change(params);
    const wl::Status status = validate(params);
    WL_CHECK(!status.ok() && status.error().message.find(name) == 0);
  };
  refuses([](SamplingParams& p) { p.temperature = -1; }, "temperature");
  refuses([](SamplingParams& p) { p.temperature = std::nan(""); }, "temperature");
  refuses([](SamplingParams& p) { p.top_k = -1; }, "top_k");
  refuses([](SamplingParams& p) { p.top_p = 1.5; }, "top_p");
  refuses([](SamplingParams& p) { p.min_p = -0.5; }, "min_p");
  refuses([](SamplingParams& p) { p.repetition_penalty = 0; }, "repetition_penalty");
  refuses([](SamplingParams& p) { p.frequency_penalty = std::nan(""); }, "frequency_penalty");
  refuses([](SamplingParams& p) { p.presence_penalty = 1e9; }, "presence_penalty");
  WL_CHECK(validate(SamplingParams{}).ok());
}
