// The layout of a build folder. All names are relative to it; build.ninja runs in it.
//
//   build.ninja                 the plan
//   gen/hallmark/               what hallmark generates: include/hallmark/ has headers, units/LIB/ instances
//   of templates,
//                               embedding assembly and version scripts
//   gen/NAME/                   what a code generator made; gen/NAME.list beside it names its files
//   obj/LIB/                    objects
//   lib/ include/ share/hallmark/   what is installed
#pragma once

#include <string>
#include <string_view>

namespace hallmark::kernels::paths {

inline constexpr std::string_view kPlan = "build.ninja";
inline constexpr std::string_view kLock = ".hallmark-lock";
/// The generator that hallmark is itself; no generator of a manifest may have this name.
inline constexpr std::string_view kOwnGenerator = "hallmark";
inline constexpr std::string_view kGeneratedInclude = "gen/hallmark/include";
inline constexpr std::string_view kInstalledInclude = "include";

/// Below gen/hallmark/.
std::string generated_header(std::string_view name);
std::string generated_unit(std::string_view library, std::string_view file);
/// Below the build folder.
std::string generated(std::string_view file);
std::string codegen_folder(std::string_view codegen);
std::string codegen_list(std::string_view codegen);
std::string object(std::string_view library, std::string_view unit);
std::string description(std::string_view project);  ///< share/hallmark/PROJECT.json

}  // namespace hallmark::kernels::paths
