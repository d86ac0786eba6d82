#include "app/manifest.h"

#include <algorithm>

#include "app/native_archs.h"
#include "base/limits.h"
#include "base/path.h"
#include "engine/program_search.h"

namespace hallmark::app {
namespace {

using manifest::MissingSources;
using manifest::ToolchainKind;

/// Where the manifest lies, without links, and what it says.
struct Read {
  std::string file;
  manifest::Parsed parsed;
};

Result<Read> read(const Session& session, const std::string& where) {
  Read read;
  HALLMARK_TRY(read.file, manifest::find(session.files, where, session.cwd));
  if (auto real = engine::real_path(session.files, read.file)) read.file = std::move(*real);
  HALLMARK_TRY(const auto text, os::read_file(session.files, read.file, limits::kManifestBytes));
  read.parsed = manifest::parse(text, read.file);
  return read;
}

manifest::Selection absolute(const Session& session, manifest::Selection selection) {
  if (!selection.folder.empty()) selection.folder = path::join(session.cwd, selection.folder);
  return selection;
}

/// Names of profiles to look at: the chosen one, or all of them.
std::vector<std::string> profiles_of(const manifest::Manifest& manifest,
                                     const manifest::Selection& selection) {
  if (!selection.profile.empty()) return {selection.profile};
  std::vector<std::string> names = {"default"};
  for (const auto& profile : manifest.profiles)
    if (profile.name != names.front()) names.push_back(profile.name);
  return names;
}

bool is_at_or_before(const manifest::Place& one, const manifest::Place& other) {
  return std::pair(one.line, one.column) <= std::pair(other.line, other.column);
}

/// Most problems are those of every profile.
void add_once(std::vector<manifest::Problem>& problems, manifest::Problem problem) {
  for (const auto& known : problems)
    if (known.place.line == problem.place.line && known.place.column == problem.place.column &&
        known.what == problem.what)
      return;
  problems.push_back(std::move(problem));
}

}  // namespace

Result<CheckedManifest> check_manifest(const Session& session, const ManifestRequest& request) {
  HALLMARK_TRY(auto found, read(session, request.where));
  CheckedManifest checked{std::move(found.file), std::move(found.parsed.problems)};
  if (!checked.problems.empty()) return checked;

  const auto& manifest = found.parsed.manifest;
  const NativeArchs native = {
      {ToolchainKind::cpu, {"native"}}, {ToolchainKind::cuda, {"native"}}, {ToolchainKind::hip, {"native"}}};
  auto selection = absolute(session, request.selection);
  for (auto& profile : profiles_of(manifest, request.selection)) {
    selection.profile = std::move(profile);
    HALLMARK_TRY(auto expanded, manifest::expand(manifest, selection, manifest::source_folders(manifest),
                                                 native, session.files, MissingSources::are_awaited));
    for (auto& problem : expanded.problems) add_once(checked.problems, std::move(problem));
  }
  std::ranges::stable_sort(checked.problems,
                           [](const manifest::Problem& one, const manifest::Problem& other) {
                             return !is_at_or_before(other.place, one.place);
                           });
  return checked;
}

Result<ExplainedManifest> explain_manifest(const Session& session, const ManifestRequest& request) {
  HALLMARK_TRY(auto found, read(session, request.where));
  ExplainedManifest explained;
  explained.file = std::move(found.file);
  explained.problems = std::move(found.parsed.problems);
  if (!explained.problems.empty()) return explained;

  explained.manifest = std::make_unique<const manifest::Manifest>(std::move(found.parsed.manifest));
  const auto& manifest = *explained.manifest;
  explained.source_folders = manifest::source_folders(manifest);
  for (const auto& [name, folder] : explained.source_folders) {
    HALLMARK_TRY(const auto stat, session.files.stat(folder));
    if (!stat) explained.missing_sources.push_back(name);
  }
  HALLMARK_TRY(auto expanded,
               manifest::expand(manifest, absolute(session, request.selection), explained.source_folders,
                                native_archs(session, manifest, request.selection), session.files,
                                MissingSources::are_awaited));
  explained.problems = std::move(expanded.problems);
  explained.expansion = std::move(expanded.expansion);
  return explained;
}

}  // namespace hallmark::app
