#pragma once
// A test harness in one header: tests register themselves, main() runs those whose name contains
// the filter. A failed check reports file, line and values, and the test goes on.

#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace wl::test {

struct TestCase {
  std::string name;
  std::function<void()> body;
};

std::vector<TestCase>& registry();
void report_failure(const char* file, int line, const std::string& what);

struct Registration {
  Registration(std::string name, std::function<void()> body) {
    registry().push_back({std::move(name), std::move(body)});
  }
};

template <class A, class B>
void check_equal(const A& a, const B& b, const char* text, const char* file, int line) {
  if (a == b) return;
  std::ostringstream out;
  out << text << ": " << a << " != " << b;
  report_failure(file, line, out.str());
}

}  // namespace wl::test

#define WL_TEST_CONCAT2(a, b) a##b
#define WL_TEST_CONCAT(a, b) WL_TEST_CONCAT2(a, b)
#define WL_TEST(name)                                                                    \
  static void WL_TEST_CONCAT(wl_test_body_, __LINE__)();                                 \
  static const ::wl::test::Registration WL_TEST_CONCAT(wl_test_registration_, __LINE__)( \
      name, WL_TEST_CONCAT(wl_test_body_, __LINE__));                                    \
  static void WL_TEST_CONCAT(wl_test_body_, __LINE__)()
#define WL_CHECK(condition) \
  if (!(condition)) ::wl::test::report_failure(__FILE__, __LINE__, #condition)
#define WL_CHECK_EQ(a, b) ::wl::test::check_equal((a), (b), #a " == " #b, __FILE__, __LINE__)
