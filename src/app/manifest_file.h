// The manifest that a person means.
#pragma once

#include <string>

#include "app/session.h"
#include "base/result.h"
#include "manifest/manifest.h"

namespace hallmark::app {

/// As manifest::load(), with the path of the manifest free of links and of "..": relative paths in commands
/// count parent folders.
Result<manifest::Manifest> load_manifest(const Session& session, const std::string& where);

}  // namespace hallmark::app
