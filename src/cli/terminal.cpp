#include "cli/terminal.h"

#include <unistd.h>

#include <cerrno>
#include <string>

namespace hallmark::cli {
namespace {

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno == EPIPE;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void complain(std::string_view line) {
  std::string text = "hallmark: ";
  text.append(line).push_back('\n');
  write_to_stderr(text);
}

void write_to_stderr(std::string_view text) {
  (void)write_all(STDERR_FILENO, text);
}

bool print(std::string_view text) {
  return write_all(STDOUT_FILENO, text);
}

}  // namespace hallmark::cli
