#include "observe/internal/inherited.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <set>
#include <string_view>

#include "base/limits.h"

namespace hallmark::observe {
namespace {

/// The two numbers behind --jobserver-auth= (or, in old versions of make, --jobserver-fds=).
std::set<int> jobserver_of(const model::Environment& environment) {
  std::set<int> numbers;
  const auto flags = environment.find("MAKEFLAGS");
  if (flags == environment.end()) return numbers;
  const std::string& text = flags->second;
  for (const std::string_view option : {"--jobserver-auth=", "--jobserver-fds="}) {
    const auto at = text.find(option);
    if (at == std::string::npos) continue;
    const char* end = text.data() + text.size();
    int number = 0;
    const auto first = std::from_chars(text.data() + at + option.size(), end, number);
    if (first.ec != std::errc{}) continue;  // fifo:PATH
    numbers.insert(number);
    if (first.ptr != end && *first.ptr == ',' &&
        std::from_chars(first.ptr + 1, end, number).ec == std::errc{}) {
      numbers.insert(number);
    }
  }
  return numbers;
}

}  // namespace

std::vector<std::string> inherited_descriptors(const model::Environment& environment) {
  std::vector<std::string> found;
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return found;
  const std::set<int> jobserver = jobserver_of(environment);
  while (const dirent* entry = ::readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    if (number <= STDERR_FILENO || number == ::dirfd(folder) || jobserver.contains(number)) continue;
    if ((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0) continue;
    std::array<char, limits::kPathBytes> target;
    const ssize_t length = ::readlinkat(::dirfd(folder), entry->d_name, target.data(), target.size());
    const std::string_view where(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    if (where != "/dev/null") found.push_back(std::string(entry->d_name) + " -> " + std::string(where));
  }
  ::closedir(folder);
  return found;
}

}  // namespace hallmark::observe
