#include "inspect/process_maps.h"

#include <algorithm>
#include <charconv>

namespace hallmark::inspect {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

/// The next word; blanks before it are dropped.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const auto word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

bool parse(std::string_view text, int base, std::uint64_t& into) {
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, into, base);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

/// The kernel writes a line break in a name as "\012", and nothing else differently.
std::string unescaped(std::string_view name) {
  constexpr std::string_view kLineBreak = "\\012";
  std::string text;
  for (auto at = name.find(kLineBreak); at != std::string_view::npos; at = name.find(kLineBreak)) {
    text.append(name.substr(0, at)).push_back('\n');
    name.remove_prefix(at + kLineBreak.size());
  }
  return text.append(name);
}

}  // namespace

std::vector<MappedFile> parse_process_maps(std::string_view text) {
  std::vector<MappedFile> files;
  while (!text.empty()) {
    auto rest = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(rest.size() + 1, text.size()));
    MappedFile file;
    file.range = take_word(rest);
    const auto rights = take_word(rest);
    take_word(rest);  // offset
    const auto device = take_word(rest);
    const auto colon = device.find(':');
    if (colon == std::string_view::npos || !parse(device.substr(0, colon), 16, file.device_major) ||
        !parse(device.substr(colon + 1), 16, file.device_minor) || !parse(take_word(rest), 10, file.inode))
      continue;
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!rest.starts_with('/') || rest.starts_with("/memfd:")) continue;
    file.deleted = rest.ends_with(kDeleted);
    if (file.deleted) rest.remove_suffix(kDeleted.size());
    file.path = unescaped(rest);
    file.runs = rights.size() > 2 && rights[2] == 'x';
    const auto known = std::find_if(files.begin(), files.end(), [&](const MappedFile& other) {
      return other.path == file.path && other.inode == file.inode &&
             other.device_major == file.device_major && other.device_minor == file.device_minor;
    });
    if (known == files.end()) {
      files.push_back(std::move(file));
    } else {
      known->runs = known->runs || file.runs;
    }
  }
  return files;
}

}  // namespace hallmark::inspect
