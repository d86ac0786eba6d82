#include "app/pinned_sources.h"

#include "base/format.h"
#include "manifest/expand.h"
#include "manifest/parse.h"

namespace hallmark::app {

Result<PinnedSources> ensure_sources(const Session& session, const std::string& where,
                                     const std::function<void(std::string_view)>& /*say*/) {
  HALLMARK_TRY(const auto manifest, manifest::load(session.files, where, session.cwd));
  for (const auto& [name, folder] : manifest::source_folders(manifest)) {
    HALLMARK_TRY(const auto stat, session.files.stat(folder));
    if (!stat)
      return fail({ErrorKind::not_found, formatted("source {} is not checked out in {}", name, folder), {}});
  }
  return PinnedSources{};
}

}  // namespace hallmark::app
