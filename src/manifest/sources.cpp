#include "manifest/sources.h"

#include "base/format.h"
#include "base/path.h"
#include "manifest/expand.h"
#include "manifest/internal/files_of.h"

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
  std::string filled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      filled += c;
      ++i;
      continue;
    }
    if (c != '{') {
      filled += c;
      continue;
    }
    const auto end = text.find('}', i);
    if (end == std::string_view::npos)
      return fail({ErrorKind::invalid, formatted("\"{}\": a brace is not closed", text),
                   "write {{ for a brace itself"});
    const std::string name(text.substr(i + 1, end - i - 1));
    i = end;
    if (name == "root") {
      filled += manifest.root;
    } else if (const auto known = more.find(name); known != more.end()) {
      filled += known->second;
    } else if (name.starts_with(kSource) && source_folders.contains(name.substr(kSource.size()))) {
      filled += source_folders.at(name.substr(kSource.size()));
    } else if (name.starts_with(kSource)) {
      return fail({ErrorKind::invalid,
                   formatted("\"{}\": no source is named \"{}\"", text, name.substr(kSource.size())),
                   {}});
    } else {
      std::string known_words = "{root}, {source.NAME}";
      for (const auto& [word, value] : more) known_words += ", {" + word + "}";
      return fail({ErrorKind::invalid, formatted("\"{}\": unknown placeholder {{{}}}", text, name),
                   "known are " + known_words});
    }
  }
  return filled;
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
