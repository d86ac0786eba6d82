// Use case: what a manifest says, and what a selection of it comes to. Builds and fetches nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "manifest/expand.h"
#include "manifest/parse.h"

namespace hallmark::app {

struct ManifestRequest {
  std::string where;  ///< a hallmark.toml or its folder; empty: the nearest
  manifest::Selection selection;
};

/// Nothing is wrong if `problems` is empty.
struct CheckedManifest {
  std::string file;  ///< absolute
  std::vector<manifest::Problem> problems;
};

/// If there are problems, the rest is not to be used.
struct ExplainedManifest {
  std::string file;  ///< absolute
  std::vector<manifest::Problem> problems;
  std::unique_ptr<const manifest::Manifest> manifest;
  manifest::Expansion expansion;  ///< points into `manifest`
  std::map<std::string, std::string> source_folders;
  std::vector<std::string> missing_sources;  ///< not checked out: patterns below them are passed over
};

/// Whether it could be built: of the profile of the request, or of each one if the request names none. Says
/// the same on every machine, whatever devices that has. Errors: not_found, limit, io.
Result<CheckedManifest> check_manifest(const Session& session, const ManifestRequest& request);

/// What the request comes to on this machine. Errors: not_found, limit, io.
Result<ExplainedManifest> explain_manifest(const Session& session, const ManifestRequest& request);

}  // namespace hallmark::app
