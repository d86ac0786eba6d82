#include "inspect/archive.h"

#include <ar.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

namespace hallmark::inspect {
namespace {

constexpr std::string_view kMagic(ARMAG, SARMAG);
constexpr std::string_view kThinMagic = "!<thin>\n";
constexpr std::string_view kBsdName = "#1/";

Error corrupt(const char* what) {
  return Error{ErrorKind::corrupt, std::string("archive: ") + what, {}};
}

std::string_view without_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

/// "/12": the name stands at 12 of the table, up to "/\n".
std::string_view from_table(std::string_view table, std::string_view reference) {
  const auto at = number(reference);
  if (!at || *at >= table.size()) return reference;
  const auto name = table.substr(*at, table.substr(*at).find('\n'));
  return name.ends_with('/') ? name.substr(0, name.size() - 1) : name;
}

}  // namespace

bool is_archive(std::string_view bytes) {
  return bytes.starts_with(kMagic) || bytes.starts_with(kThinMagic);
}

Status for_each_member(std::string_view bytes,
                       const std::function<void(std::string_view name, std::string_view bytes)>& visit) {
  if (bytes.starts_with(kThinMagic))
    return fail({ErrorKind::unsupported, "a thin archive holds only the names of its members",
                 "name the members themselves"});
  if (!bytes.starts_with(kMagic)) return fail(corrupt("it does not begin as one"));
  bytes.remove_prefix(kMagic.size());
  std::string_view table;
  while (!bytes.empty()) {
    ar_hdr header;
    if (bytes.size() < sizeof header) return fail(corrupt("the header of a member is truncated"));
    std::memcpy(&header, bytes.data(), sizeof header);
    bytes.remove_prefix(sizeof header);
    const auto size = number({header.ar_size, sizeof header.ar_size});
    if (!size || std::memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0)
      return fail(corrupt("the header of a member is malformed"));
    if (*size > bytes.size()) return fail(corrupt("a member is longer than the file"));
    auto name = without_blanks({header.ar_name, sizeof header.ar_name});
    auto member = bytes.substr(0, *size);
    bytes.remove_prefix(std::min(bytes.size(), *size + *size % 2));
    if (name == "/" || name == "/SYM64/") continue;  // the index
    if (name == "//") {
      table = member;
      continue;
    }
    if (name.starts_with(kBsdName)) {
      const auto length = number(name.substr(kBsdName.size()));
      if (!length || *length > member.size()) return fail(corrupt("the name of a member is malformed"));
      name = member.substr(0, *length);
      name = name.substr(0, name.find('\0'));
      member.remove_prefix(*length);
      if (name.starts_with("__.SYMDEF")) continue;
    } else if (name.starts_with('/')) {
      name = from_table(table, name.substr(1));
    } else if (name.ends_with('/')) {
      name.remove_suffix(1);
    }
    visit(name, member);
  }
  return {};
}

}  // namespace hallmark::inspect
