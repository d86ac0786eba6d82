#include "app/manifest_file.h"

#include "base/path.h"
#include "engine/program_search.h"
#include "manifest/parse.h"

namespace hallmark::app {

Result<manifest::Manifest> load_manifest(const Session& session, const std::string& where) {
  auto place = where;
  if (!where.empty())
    if (const auto real = engine::real_path(session.files, path::join(session.cwd, where))) place = *real;
  return manifest::load(session.files, place, session.cwd);
}

}  // namespace hallmark::app
