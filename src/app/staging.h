// What a build completes when Ninja is done: links, the description; and what it takes back before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "kernels/description.h"

namespace hallmark::app {

/// Before Ninja starts: what stands in share/hallmark is true of a finished build only, so a build that fails
/// leaves none.
Status withdraw_description(os::FileSystem& files, const manifest::Manifest& manifest,
                            const std::string& folder);

/// Makes the links, removes what no library of the plan has made, writes the description and gives its path.
/// A file whose bytes are right keeps its time. Errors: not_found (Ninja said that it built a library that is
/// not there), io, no_space.
Result<std::string> stage(const Session& session, const manifest::Manifest& manifest,
                          const manifest::Expansion& expansion, const kernels::Plan& plan,
                          const std::vector<kernels::Tool>& tools,
                          const std::vector<kernels::DescribedSource>& sources);

/// The description as it was before withdraw_description(), if the last stage() of this folder was of the
/// same plan and sources; nullopt: it was not, and stage() is needed. For a build in which Ninja had nothing
/// to do.
Result<std::optional<std::string>> restore_description(os::FileSystem& files,
                                                       const manifest::Manifest& manifest,
                                                       const std::string& folder, const kernels::Plan& plan,
                                                       const std::vector<kernels::DescribedSource>& sources);

}  // namespace hallmark::app
