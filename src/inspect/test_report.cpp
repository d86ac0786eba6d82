#include "inspect/test_report.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <pugixml.hpp>
#include <string>

namespace hallmark::inspect {
namespace {

constexpr int kReportDepth = 64;

bool has_child(const pugi::xml_node& node, const char* name) {
  return !node.child(name).empty();
}

bool is(const pugi::xml_node& node, const char* attribute, std::string_view value) {
  return value == node.attribute(attribute).value();
}

bool has(const pugi::xml_node& node, const char* attribute) {
  return !node.attribute(attribute).empty();
}

/// It is only listed, or never began.
bool was_not_started(const pugi::xml_node& node) {
  if (!has(node, "time") && !has(node, "status") && !has(node, "result")) return true;
  return std::string_view(node.attribute("timestamp").value()).starts_with("1970-01-01T00:00:00");
}

void count_case(const pugi::xml_node& node, TestCounts& counts) {
  if (has_child(node, "failure") || has_child(node, "error") || is(node, "status", "fail")) {
    ++counts.failed;
  } else if (has_child(node, "skipped") || is(node, "status", "notrun") || is(node, "status", "disabled") ||
             is(node, "result", "skipped") || is(node, "result", "suppressed") || was_not_started(node)) {
    ++counts.skipped;
  } else {
    ++counts.passed;
  }
}

void count_below(const pugi::xml_node& node, int depth, TestCounts& counts) {
  if (depth > kReportDepth) return;
  for (const auto& child : node.children()) {
    if (std::strcmp(child.name(), "testcase") == 0) {
      count_case(child, counts);
    } else {
      count_below(child, depth + 1, counts);
    }
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The number that ends right before `at`, blanks skipped.
std::optional<std::uint64_t> number_before(std::string_view text, std::size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  const auto end = at;
  while (at > 0 && is_digit(text[at - 1])) --at;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data() + at, text.data() + end, number);
  return at < end && parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> number_before(std::string_view line, std::string_view word) {
  const auto at = line.find(word);
  return at == std::string_view::npos ? std::nullopt : number_before(line, at);
}

/// "100% tests passed, 0 tests failed out of 12"; skipped ones count as passed there.
std::optional<TestCounts> ctest_line(std::string_view line) {
  constexpr std::string_view kOutOf = "tests failed out of ";
  const auto failed = number_before(line, kOutOf);
  if (!failed) return std::nullopt;
  auto rest = line.substr(line.find(kOutOf) + kOutOf.size());
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_digit);
  const auto all = number_before(rest, static_cast<std::size_t>(end - rest.begin()));
  if (!all || *all < *failed) return std::nullopt;
  return TestCounts{*all - *failed, *failed, 0};
}

/// "===== 3 failed, 2 passed, 1 skipped in 0.12s =====", "===== no tests ran in 0.01s ====="
std::optional<TestCounts> pytest_line(std::string_view line) {
  if (!line.starts_with("==") || line.find(" in ") == std::string_view::npos) return std::nullopt;
  const bool none = line.find("no tests ran") != std::string_view::npos;
  const auto passed = number_before(line, " passed");
  const auto failed = number_before(line, " failed");
  const auto errors = number_before(line, " error");
  const auto skipped = number_before(line, " skipped");
  if (!none && !passed && !failed && !errors && !skipped) return std::nullopt;
  return TestCounts{passed.value_or(0), failed.value_or(0) + errors.value_or(0), skipped.value_or(0)};
}

/// GoogleTest's has several lines.
class GtestSummary {
 public:
  /// True if the line is one of them: then counts() holds what is known so far.
  bool take(std::string_view line) {
    if (line.starts_with("[==========]") && line.find(" ran.") != std::string_view::npos) {
      counts_ = TestCounts{};
      has_begun_ = true;
      return true;
    }
    if (!has_begun_) return false;
    const auto number = number_before(line, " test");
    if (line.starts_with("[  PASSED  ]")) {
      counts_.passed = number.value_or(0);
    } else if (line.starts_with("[  SKIPPED ]") && number) {
      counts_.skipped = *number;
    } else if (line.starts_with("[  FAILED  ]") && number) {
      counts_.failed = *number;
    } else {
      return false;
    }
    return true;
  }
  const TestCounts& counts() const { return counts_; }

 private:
  bool has_begun_ = false;
  TestCounts counts_;
};

std::uint64_t number_behind(std::string_view line, std::string_view word) {
  const auto at = line.find(word);
  if (at == std::string_view::npos) return 0;
  std::uint64_t number = 0;
  std::from_chars(line.data() + at + word.size(), line.data() + line.size(), number);
  return number;
}

/// "Ran 5 tests in 0.001s", then "OK", "OK (skipped=1)" or "FAILED (failures=1, errors=1, skipped=1)".
class UnittestSummary {
 public:
  bool take(std::string_view line) {
    if (line.starts_with("Ran ") && line.find(" in ") != std::string_view::npos) {
      ran_ = number_before(line, " test").value_or(0);
      has_begun_ = true;
      return false;
    }
    const bool failed = line.starts_with("FAILED (");
    if (!has_begun_ || !(failed || line == "OK" || line.starts_with("OK (") || line == "NO TESTS RAN"))
      return false;
    const auto bad = failed ? number_behind(line, "(failures=") + number_behind(line, "errors=") +
                                  number_behind(line, "unexpected successes=")
                            : 0;
    const auto skipped = number_behind(line, "skipped=");
    counts_ = {ran_ - std::min(ran_, bad + skipped), bad, skipped};
    has_begun_ = false;
    return true;
  }
  const TestCounts& counts() const { return counts_; }

 private:
  bool has_begun_ = false;
  std::uint64_t ran_ = 0;
  TestCounts counts_;
};

}  // namespace

Result<TestCounts> read_junit(std::string_view xml) {
  pugi::xml_document document;
  const auto parsed = document.load_buffer(xml.data(), xml.size());
  if (!parsed) return fail({ErrorKind::invalid, std::string("no XML: ") + parsed.description(), {}});
  const auto root = document.document_element();
  const std::string_view name = root.name();
  if (name != "testsuites" && name != "testsuite")
    return fail({ErrorKind::invalid, "no report of tests: it begins with <" + std::string(name) + ">", {}});
  TestCounts counts;
  count_below(root, 0, counts);
  return counts;
}

std::optional<Summary> read_summary(std::string_view output) {
  std::optional<Summary> found;
  GtestSummary gtest;
  UnittestSummary unittest;
  while (!output.empty()) {
    auto line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(line.size() + 1, output.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (gtest.take(line)) {
      found = Summary{gtest.counts()};
    } else if (unittest.take(line)) {
      found = Summary{unittest.counts()};
    } else if (line.find("No tests were found!!!") != std::string_view::npos) {
      found = Summary{{}, true};
    } else if (const auto ctest = ctest_line(line)) {
      found = Summary{*ctest, true};
    } else if (const auto pytest = pytest_line(line)) {
      found = Summary{*pytest};
    }
  }
  return found;
}

std::vector<TestCounts> read_pytest_summaries(std::string_view output) {
  std::vector<TestCounts> found;
  while (!output.empty()) {
    const auto line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(line.size() + 1, output.size()));
    if (const auto counts = pytest_line(line)) found.push_back(*counts);
  }
  return found;
}

}  // namespace hallmark::inspect
