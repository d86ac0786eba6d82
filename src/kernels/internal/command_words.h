// The words that each toolchain's compiler takes for the same wish.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/tools.h"
#include "manifest/expand.h"

namespace hallmark::kernels {

using Words = std::vector<std::string>;

/// Of the target: one arch, or all of them in one object. A cpu compiler makes code for one target only: of
/// several it is told none, and takes its own default, which runs on each of them.
Words arch_words(manifest::ToolchainKind kind, const std::vector<std::string>& archs);

/// For a shared library, what a program of another compiler wants to be said differently: nvcc hands host
/// words on.
Words host_words(manifest::ToolchainKind kind, const Words& words);

/// The compiler and what it is always told: language standard, position-independent code, no path of this
/// machine in the result (`prefix_maps`: from, to).
Words compiler_words(const Tool& tool, std::string_view file, std::string_view standard,
                     const std::vector<std::pair<std::string, std::string>>& prefix_maps);

/// A link of objects into a shared library; objects come behind.
struct LinkWish {
  std::string soname;
  std::string version_script;  ///< path; empty: everything is exported
  std::vector<std::string> rpath;
};
Words link_words(const Tool& tool, const std::vector<std::string>& archs, const LinkWish& wish);

/// -DNAME or -DNAME=VALUE.
std::string definition(std::string_view name, std::string_view value);

}  // namespace hallmark::kernels
