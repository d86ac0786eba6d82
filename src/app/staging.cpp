#include "app/staging.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"
#include "digest/digest.h"
#include "engine/plain_hasher.h"
#include "inspect/stamp.h"
#include "kernels/paths.h"
#include "kernels/settled_files.h"
#include "os/tree.h"

namespace hallmark::app {
namespace {

constexpr std::string_view kAttestation = ".intoto.json";
/// Where the description waits while a build runs.
constexpr std::string_view kWithdrawn = ".hallmark-description";
/// Names what the last description was made of.
constexpr std::string_view kStaged = ".hallmark-staged";

/// Of all that a description is made of, but for the files, which only Ninja changes.
std::string staged_text(const kernels::Plan& plan, const std::vector<kernels::DescribedSource>& sources) {
  digest::Hasher hasher;
  hasher.update(plan.ninja);
  for (const auto& source : sources)
    hasher.update(formatted("source {} {} {}\n", source.name, source.identity, source.dirty));
  for (const auto& missing : plan.not_built)
    hasher.update(formatted("not built {} {} {}\n", missing.library, missing.kernel, missing.why));
  return hasher.finish().hex() + "\n";
}

class Stager {
 public:
  Stager(const Session& session, const std::string& folder) : session_(session), folder_(folder) {
    auto store = open_store(session);
    if (store.has_value()) store_ = std::move(*store);
  }

  Status links(const kernels::Plan& plan) {
    std::vector<kernels::WantedFile> wanted;
    for (const auto& library : plan.libraries)
      if (!library.link.empty())
        wanted.push_back(
            {kernels::WantedFile::Kind::link, library.link, std::string(path::base_name(library.file))});
    HALLMARK_CHECK(kernels::SettledFiles(session_.files, folder_, ".hallmark-links").settle(wanted));
    return {};
  }

  /// lib/ is the build's own: what an earlier plan linked there is not in this one.
  Status prune(const kernels::Plan& plan) {
    std::set<std::string> kept;
    for (const auto& library : plan.libraries) {
      kept.insert({library.file, library.file + std::string(kAttestation)});
      if (!library.link.empty()) kept.insert(library.link);
    }
    HALLMARK_TRY(const auto present, os::files_below(session_.files, path::join(folder_, "lib")));
    for (const auto& name : present) {
      const bool is_ours = name.starts_with("lib") && name.find('/') == std::string::npos;
      if (is_ours && !kept.contains("lib/" + name))
        HALLMARK_CHECK(session_.files.remove(path::join(folder_, "lib/" + name)));
    }
    return {};
  }

  Result<kernels::DescribedFile> described(const std::string& file) {
    HALLMARK_TRY(const auto hashed, hasher().hash(path::join(folder_, file)));
    return kernels::DescribedFile{file, hashed.digest.hex(), hashed.digest.size_bytes};
  }

  Result<bool> is_there(const std::string& file) {
    HALLMARK_TRY(const auto stat, session_.files.stat(path::join(folder_, file)));
    return stat.has_value();
  }

  /// Empty: it bears no stamp, as its run could not be recorded or its kind bears none.
  Result<std::string> strong_key(const std::string& file) {
    HALLMARK_TRY(const auto bytes,
                 os::read_file(session_.files, path::join(folder_, file), limits::kSettledFileBytes));
    const auto stamp = inspect::read_stamp(bytes);
    return stamp.has_value() && *stamp ? (*stamp)->stamp.strong.hex() : std::string();
  }

  /// The description is there again, with the time that it had if it says the same.
  Result<std::string> describe(const std::string& name, const std::string& text) {
    const auto withdrawn = path::join(folder_, kWithdrawn);
    const auto path = path::join(folder_, name);
    HALLMARK_TRY(const auto stat, session_.files.lstat(withdrawn));
    if (stat) {
      HALLMARK_TRY(const auto before, os::read_file(session_.files, withdrawn, limits::kSettledFileBytes));
      if (before == text) {
        HALLMARK_CHECK(session_.files.rename(withdrawn, path));
      } else {
        HALLMARK_CHECK(session_.files.remove(withdrawn));
      }
    }
    HALLMARK_CHECK(kernels::settle_text(session_.files, path, text));
    return path;
  }

 private:
  digest::ContentHasher& hasher() {
    if (store_ != nullptr) return store_->hasher();
    return plain_;
  }

  const Session& session_;
  const std::string& folder_;
  std::unique_ptr<store::LocalStore> store_;
  engine::PlainHasher plain_{session_.files};
};

}  // namespace

Status withdraw_description(os::FileSystem& files, const manifest::Manifest& manifest,
                            const std::string& folder) {
  const auto path = path::join(folder, kernels::paths::description(manifest.project));
  HALLMARK_TRY(const auto stat, files.lstat(path));
  if (!stat) return {};
  return files.rename(path, path::join(folder, kWithdrawn));
}

Result<std::string> stage(const Session& session, const manifest::Manifest& manifest,
                          const manifest::Expansion& expansion, const kernels::Plan& plan,
                          const std::vector<kernels::Tool>& tools,
                          const std::vector<kernels::DescribedSource>& sources) {
  Stager stager(session, expansion.folder);
  HALLMARK_CHECK(stager.links(plan));
  HALLMARK_CHECK(stager.prune(plan));
  std::vector<kernels::DescribedLibrary> libraries;
  std::vector<kernels::DescribedFile> files;
  const auto add = [&](const std::string& name) -> Status {
    HALLMARK_TRY(auto file, stager.described(name));
    files.push_back(std::move(file));
    return {};
  };
  for (const auto& library : plan.libraries) {
    HALLMARK_TRY(const bool built, stager.is_there(library.file));
    if (!built)
      return fail(
          {ErrorKind::not_found,
           formatted("{}/{} was not built though Ninja reports success", expansion.folder, library.file),
           {}});
    HALLMARK_TRY(auto key, stager.strong_key(library.file));
    libraries.push_back({library.file, std::move(key)});
    HALLMARK_CHECK(add(library.file));
    const auto attestation = library.file + std::string(kAttestation);
    HALLMARK_TRY(const bool attested, stager.is_there(attestation));
    if (attested) HALLMARK_CHECK(add(attestation));
  }
  for (const auto& header : plan.headers) HALLMARK_CHECK(add(header.to));
  std::ranges::sort(files, {}, &kernels::DescribedFile::path);
  HALLMARK_TRY(auto path, stager.describe(kernels::paths::description(manifest.project),
                                          kernels::description(manifest, expansion, plan, tools, sources,
                                                               libraries, files)));
  HALLMARK_CHECK(
      kernels::settle_text(session.files, path::join(expansion.folder, kStaged), staged_text(plan, sources)));
  return path;
}

Result<std::optional<std::string>> restore_description(os::FileSystem& files,
                                                       const manifest::Manifest& manifest,
                                                       const std::string& folder, const kernels::Plan& plan,
                                                       const std::vector<kernels::DescribedSource>& sources) {
  const auto wanted = staged_text(plan, sources);
  const auto staged = os::read_file(files, path::join(folder, kStaged), wanted.size());
  if (!staged.has_value() || *staged != wanted) return std::nullopt;
  const auto withdrawn = path::join(folder, kWithdrawn);
  HALLMARK_TRY(const auto stat, files.lstat(withdrawn));
  if (!stat) return std::nullopt;
  auto path = path::join(folder, kernels::paths::description(manifest.project));
  HALLMARK_CHECK(files.rename(withdrawn, path));
  return path;
}

}  // namespace hallmark::app
