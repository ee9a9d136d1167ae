#include "report.h"

#include <cstdio>

namespace wl::bench {

namespace {
bool has_mismatch = false;
}

Row make_row(const std::string& id, const std::string& unit, double amount, const Timing& timing) {
  Row row{id, unit, {}, std::nullopt, timing.is_disturbed};
  for (const double seconds : timing.seconds) row.rates.push_back(amount / seconds);
  return row;
}

void print_row(const Row& row) {
  std::printf("{\"id\":\"%s\",\"unit\":\"%s\",\"rates\":[", row.id.c_str(), row.unit.c_str());
  for (size_t i = 0; i < row.rates.size(); ++i) {
    std::printf("%s%.6g", i == 0 ? "" : ",", row.rates[i]);
  }
  std::printf("],");
  if (row.roof.has_value()) std::printf("\"roof\":%.6g,", *row.roof);
  std::printf("\"disturbed\":%s}\n", row.is_disturbed ? "true" : "false");
  std::fflush(stdout);
}

void print_mismatch(const std::string& id) {
  has_mismatch = true;
  std::printf("{\"id\":\"%s\",\"mismatch\":true}\n", id.c_str());
}

bool any_mismatch() { return has_mismatch; }

}  // namespace wl::bench
