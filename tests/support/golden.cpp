#include "support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/bytes.h"

namespace hallmark::test {
namespace {

constexpr std::size_t kBytesPerLine = 32;

std::string path_of(const std::string& source_dir, const std::string& name) {
  return source_dir + "/tests/golden/" + name + ".hex";
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) ADD_FAILURE() << path << ": cannot be read; make it with HALLMARK_UPDATE_GOLDEN=1";
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::string hex_dump(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += kBytesPerLine) {
    text += to_hex(as_bytes(bytes.substr(at, kBytesPerLine)));
    text += '\n';
  }
  return text;
}

void expect_golden(const std::string& source_dir, const std::string& name, std::string_view bytes) {
  const std::string path = path_of(source_dir, name);
  if (std::getenv("HALLMARK_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << hex_dump(bytes);
    return;
  }
  EXPECT_EQ(hex_dump(bytes), read_text(path))
      << "the bytes of a format changed: older stores are read wrong unless its version is raised";
}

std::string golden_bytes(const std::string& source_dir, const std::string& name) {
  std::string bytes;
  int high = -1;
  for (const char c : read_text(path_of(source_dir, name))) {
    if (c == '\n') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<char>(high << 4 | digit));
      high = -1;
    }
  }
  return bytes;
}

}  // namespace hallmark::test
