// Description: share/hallmark/PROJECT.json, what a build made and of what (docs/formats/library.md).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/plan.h"
#include "manifest/expand.h"
#include "manifest/manifest.h"

namespace hallmark::kernels {

struct DescribedSource {
  std::string name;
  std::string pin;       ///< the commit, or "sha256:..." of the archive
  std::string identity;  ///< changes whenever its bytes may differ
  bool dirty = false;    ///< edited since it was checked out
};

struct DescribedFile {
  std::string path;  ///< below the installed folder
  std::string sha256;
  std::uint64_t bytes = 0;
};

struct DescribedLibrary {
  std::string file;        ///< below the installed folder
  std::string strong_key;  ///< of the run that linked it; empty: it bears no stamp
};

/// The text of the file: JSON with line breaks, in a fixed order; no times, no paths of this machine.
std::string description(const manifest::Manifest& manifest, const manifest::Expansion& expansion,
                        const Plan& plan, const std::vector<Tool>& tools,
                        const std::vector<DescribedSource>& sources,
                        const std::vector<DescribedLibrary>& libraries,
                        const std::vector<DescribedFile>& files);

}  // namespace hallmark::kernels
