#include <cstring>

#include "check.h"

namespace wl::test {

static int num_failures = 0;

std::vector<TestCase>& registry() {
  static std::vector<TestCase> tests;
  return tests;
}

void report_failure(const char* file, int line, const std::string& what) {
  ++num_failures;
  std::printf("    %s:%d: %s\n", file, line, what.c_str());
}

}  // namespace wl::test

/// wl_tests [filter]: one line a test, then `N passed, N failed`. Exit 1 when a check failed.
int main(int argc, char** argv) {
  const char* filter = argc > 1 ? argv[1] : "";
  int num_passed = 0, num_failed = 0;
  for (const auto& test : wl::test::registry()) {
    if (std::strstr(test.name.c_str(), filter) == nullptr) continue;
    const int before = wl::test::num_failures;
    test.body();
    const bool ok = wl::test::num_failures == before;
    std::printf("%s %s\n", ok ? "ok  " : "FAIL", test.name.c_str());
    (ok ? num_passed : num_failed)++;
  }
  std::printf("%d passed, %d failed\n", num_passed, num_failed);
  return num_failed == 0 ? 0 : 1;
}
