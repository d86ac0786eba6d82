#include "manifest/sources.h"

#include "base/format.h"
#include "base/path.h"
#include "manifest/expand.h"
#include "manifest/internal/files_of.h"
#include "manifest/internal/placeholders.h"

namespace hallmark::manifest {
namespace {

std::string place_of(const Manifest& manifest, Place place) {
  return formatted("{}:{}", path::base_name(manifest.file), place.line);
}

/// A path on this machine becomes absolute; URLs, and scp's HOST:PATH, stay.
std::string location_of(const Manifest& manifest, const std::string& location) {
  const bool is_url = location.find("://") != std::string::npos;
  const auto colon = location.find(':');
  const bool is_scp = colon != std::string::npos && location.find('/') > colon;
  return is_url || is_scp ? location : path::join(manifest.root, location);
}

}  // namespace

std::map<std::string, std::string> source_folders(const Manifest& manifest) {
  std::map<std::string, std::string> folders;
  for (const auto& source : manifest.sources)
    folders.emplace(source.name, path::join(manifest.root, source.path));
  return folders;
}

Result<std::string> filled_in(std::string_view text, const Manifest& manifest,
                              const std::map<std::string, std::string>& source_folders,
                              const std::map<std::string, std::string>& more) {
  constexpr std::string_view kSource = "source.";
  const auto value_of = [&](const std::string& name) -> std::optional<std::string> {
    if (name == "root") return manifest.root;
    if (const auto known = more.find(name); known != more.end()) return known->second;
    if (!name.starts_with(kSource)) return std::nullopt;
    const auto folder = source_folders.find(name.substr(kSource.size()));
    return folder == source_folders.end() ? std::nullopt : std::optional(folder->second);
  };
  std::vector<std::string> sources;
  for (const auto& [name, folder] : source_folders) sources.push_back(name);
  std::vector<std::string> words;
  for (const auto& [word, value] : more) words.push_back(word);
  return with_values(text, value_of, sources, words);
}

std::string as_literal(std::string_view text) {
  std::string literal;
  for (const char c : text) {
    literal += c;
    if (c == '{' || c == '}') literal += c;
  }
  return literal;
}

Result<ResolvedSources> resolve_sources(const Manifest& manifest, os::FileSystem& files) {
  ResolvedSources resolved;
  Globber globber(files);
  const FilesOf files_of(manifest, source_folders(manifest), globber, resolved.problems);
  const auto folders = source_folders(manifest);
  for (const auto& source : manifest.sources) {
    model::Source made;
    made.name = source.name;
    made.folder = folders.at(source.name);
    made.place = place_of(manifest, source.place);
    made.safe_directory = source.safe_directory == SafeDirectory::process ? model::SafeDirectory::process
                                                                          : model::SafeDirectory::never;
    HALLMARK_TRY(auto patches, files_of.find(source.patches, FilesOf::Order::as_written));
    if (const auto* git = std::get_if<GitPin>(&source.pin)) {
      model::GitPin pin;
      pin.url = location_of(manifest, git->location.text);
      pin.commit = git->commit.text;
      pin.ref = git->ref;
      pin.submodules = git->all_submodules       ? model::Submodules::all
                       : git->submodules.empty() ? model::Submodules::none
                                                 : model::Submodules::some;
      pin.some_submodules = git->submodules;
      pin.patches = std::move(patches);
      made.pin = std::move(pin);
    } else {
      const auto& archive = std::get<ArchivePin>(source.pin);
      made.pin = model::ArchivePin{location_of(manifest, archive.location.text), archive.sha256.text,
                                   archive.strip, std::move(patches)};
    }
    for (const auto& expected : source.structs) {
      HALLMARK_TRY(const auto wrapper, files_of.find({expected.wrapper}, FilesOf::Order::as_written));
      if (wrapper.empty()) continue;  // a problem by now
      made.fields.push_back({expected.header.text, expected.name.text, wrapper.front(), expected.variable,
                             expected.ignore, place_of(manifest, expected.name.place)});
    }
    for (const auto& expected : source.declarations)
      made.declarations.push_back(
          {expected.header.text, expected.text.text, place_of(manifest, expected.text.place)});
    resolved.sources.push_back(std::move(made));
  }
  return resolved;
}

}  // namespace hallmark::manifest
