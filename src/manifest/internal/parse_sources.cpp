#include <algorithm>
#include <cctype>

#include "base/format.h"
#include "manifest/internal/parts.h"

namespace hallmark::manifest {
namespace {

/// The digits of a commit or a SHA-256 in lower case.
void read_hex(Text& text, std::initializer_list<std::size_t> lengths, std::string_view what,
              std::string_view title, Problems& problems) {
  std::ranges::transform(text.text, text.text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  const bool is_hex = text.text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (is_hex && std::ranges::find(lengths, text.text.size()) != lengths.end()) return;
  problems.add(text.place, formatted("{}: \"{}\" is no {}", title, text.text, what),
               formatted("write all {} hexadecimal digits", *lengths.begin()));
}

GitPin git_pin(TableReader& reader) {
  GitPin pin;
  pin.location = reader.required_text("git");
  const bool has_commit = reader.has("commit");
  pin.commit = reader.required_text("commit");
  if (has_commit && !pin.commit.text.empty())
    read_hex(pin.commit, {40, 64}, "whole commit", reader.title(), reader.problems());
  pin.ref = reader.text_or("ref", "");
  const auto* submodules = reader.member("submodules");
  if (submodules != nullptr && submodules->value.kind == Node::Kind::array) {
    pin.submodules = reader.words("submodules");
  } else {
    pin.all_submodules = reader.flag("submodules", false);
  }
  return pin;
}

ArchivePin archive_pin(TableReader& reader) {
  ArchivePin pin;
  pin.location = reader.required_text("archive");
  const bool has_digest = reader.has("sha256");
  pin.sha256 = reader.required_text("sha256");
  if (has_digest && !pin.sha256.text.empty())
    read_hex(pin.sha256, {64}, "SHA-256", reader.title(), reader.problems());
  pin.strip = static_cast<std::uint32_t>(std::min<std::uint64_t>(reader.count("strip", 1), 64));
  return pin;
}

void read_expectations(TableReader& reader, Source& source) {
  const auto* table = reader.table("expects");
  if (table == nullptr) return;
  TableReader expects(*table, reader.title() + ".expects", reader.problems());
  for (const auto* node : expects.tables("struct", true)) {
    TableReader one(*node, expects.title() + ".struct", reader.problems());
    ExpectedStruct expected;
    expected.header = one.required_text("header");
    expected.name = one.required_text("name");
    expected.wrapper = one.required_text("wrapper");
    if (!expected.wrapper.text.empty()) reader.problems().check_path(expected.wrapper);
    expected.variable = one.text_or("variable", "");
    expected.ignore = one.words("ignore");
    one.finish();
    source.structs.push_back(std::move(expected));
  }
  for (const auto* node : expects.tables("declaration", true)) {
    TableReader one(*node, expects.title() + ".declaration", reader.problems());
    ExpectedDeclaration expected{one.required_text("header"), one.required_text("text")};
    one.finish();
    source.declarations.push_back(std::move(expected));
  }
  expects.finish();
}

}  // namespace

Source source_of(const std::string& name, const Node& table, Problems& problems) {
  Source source;
  source.name = name;
  source.place = table.place;
  TableReader reader(table, formatted("[source.{}]", name), problems);
  const bool is_git = reader.has("git");
  const bool is_archive = reader.has("archive");
  if (is_git == is_archive)
    problems.add(table.place, formatted("{}: one of `git` and `archive` must be there{}", reader.title(),
                                        is_git ? ", not both" : ""));
  if (is_archive && !is_git) {
    source.pin = archive_pin(reader);
  } else if (is_git) {
    source.pin = git_pin(reader);
    if (is_archive) (void)archive_pin(reader);
  }
  source.patches = reader.paths("patches");
  source.path = reader.path_or("path", ".hallmark/sources/" + name);
  source.safe_directory = reader.one_of("safe_directory", {"never", "process"}, "never") == "process"
                              ? SafeDirectory::process
                              : SafeDirectory::never;
  read_expectations(reader, source);
  reader.finish();
  return source;
}

}  // namespace hallmark::manifest
