#include "observe/internal/inherited.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <set>
#include <string_view>

#include "base/limits.h"

namespace hallmark::observe {
namespace {

constexpr int kLastAgreedDescriptor = 9;  // what a portable shell script can name in a redirection

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

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Whether `number` stands in `text` as a word of its own: "/dev/fd/63", "3,4", "fd=10".
bool mentions(std::string_view text, std::string_view number) {
  for (auto at = text.find(number); at != std::string_view::npos; at = text.find(number, at + 1)) {
    const auto end = at + number.size();
    const bool starts = at == 0 || !is_word_character(text[at - 1]);
    if (starts && (end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

bool is_told(const model::Command& command, std::string_view number) {
  return std::any_of(command.argv.begin(), command.argv.end(),
                     [&](const std::string& word) { return mentions(word, number); }) ||
         std::any_of(command.environment.begin(), command.environment.end(),
                     [&](const auto& variable) { return mentions(variable.second, number); });
}

}  // namespace

std::string jobserver_pipe_of(const model::Environment& environment) {
  const auto flags = environment.find("MAKEFLAGS");
  if (flags == environment.end()) return {};
  constexpr std::string_view kOption = "--jobserver-auth=fifo:";
  const auto at = flags->second.find(kOption);
  if (at == std::string::npos) return {};
  const auto begin = at + kOption.size();
  return flags->second.substr(begin, flags->second.find(' ', begin) - begin);
}

std::vector<std::string> settle_inherited_descriptors(const model::Command& command) {
  std::vector<std::string> found;
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return found;
  const std::set<int> jobserver = jobserver_of(command.environment);
  while (const dirent* entry = ::readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    if (number <= STDERR_FILENO || number == ::dirfd(folder) || jobserver.contains(number)) continue;
    const int flags = ::fcntl(number, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0) continue;
    if (number > kLastAgreedDescriptor && !is_told(command, entry->d_name)) {
      ::fcntl(number, F_SETFD, flags | FD_CLOEXEC);
      continue;
    }
    std::array<char, limits::kPathBytes> target;
    const ssize_t length = ::readlinkat(::dirfd(folder), entry->d_name, target.data(), target.size());
    const std::string_view where(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    if (where != "/dev/null") found.push_back(std::string(entry->d_name) + " -> " + std::string(where));
  }
  ::closedir(folder);
  return found;
}

}  // namespace hallmark::observe
