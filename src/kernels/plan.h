// Plan: what a manifest's expansion means for Ninja: the text of build.ninja and the files that it needs to
// be there.
//
// Planning runs nothing and writes nothing. It reads templates. The same request gives the same bytes, so
// that a plan that changes nothing touches nothing. Every command goes through `hallmark run`; Ninja
// schedules, hallmark decides what is true.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/tools.h"
#include "manifest/expand.h"
#include "manifest/manifest.h"
#include "os/file_system.h"

namespace hallmark::kernels {

struct PlanRequest {
  const manifest::Manifest& manifest;
  const manifest::Expansion& expansion;
  const std::vector<Tool>& tools;
  std::map<std::string, std::string> source_folders;
  /// What each code generator made last, relative to its folder; a generator that is not here did not run
  /// yet.
  std::map<std::string, std::vector<std::string>> generated;
  std::string program;                 ///< hallmark, absolute
  std::string run_root;                ///< --root of each run; empty: by its own rule
  std::vector<std::string> selection;  ///< words of `hallmark build` that choose the same again
  std::uint64_t memory_mb = 0;         ///< for kernels that say what they need; 0: unknown
};

struct GeneratedFile {
  std::string path;  ///< below gen/hallmark/
  std::string text;
};

struct CopiedFile {
  std::string from;  ///< absolute
  std::string to;    ///< below the build folder
};

struct PlannedLibrary {
  const manifest::ExpandedLibrary* library = nullptr;
  std::vector<manifest::Unit> units;  ///< those that are built, generated ones too
  std::string file;                   ///< below the build folder
  std::string link;                   ///< a name beside it that leads to it; empty: none
};

struct Plan {
  std::string ninja;  ///< the text of build.ninja
  std::vector<GeneratedFile> files;
  std::vector<CopiedFile> headers;
  std::vector<PlannedLibrary> libraries;
  std::vector<manifest::NotBuilt> not_built;  ///< of the selection, and for lack of a compiler
  std::size_t units = 0;
};

/// Errors: invalid (what is wrong with the manifest on this machine, each with FILE:LINE:COLUMN), unsupported
/// (a required compiler is missing), io.
Result<Plan> make_plan(const PlanRequest& request, os::FileSystem& files);

}  // namespace hallmark::kernels
