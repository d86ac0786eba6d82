// The layout of a build folder. All names are relative to it; build.ninja runs in it.
//
//   build.ninja                 the plan
//   gen/include/hallmark/       generated headers: namespaces, tables of variants, embedded objects
//   gen/units/LIB/              instances of templates, embedding assembly, version scripts
//   gen/codegen/NAME/           what a code generator made; NAME.list beside it names its files
//   obj/LIB/                    objects
//   lib/ include/ share/hallmark/   what is installed
#pragma once

#include <string>
#include <string_view>

namespace hallmark::kernels::paths {

inline constexpr std::string_view kPlan = "build.ninja";
inline constexpr std::string_view kLock = ".hallmark-lock";
inline constexpr std::string_view kGeneratedInclude = "gen/include";
inline constexpr std::string_view kInstalledInclude = "include";

std::string generated_header(std::string_view name);  ///< hallmark/NAME
std::string generated_unit(std::string_view library, std::string_view file);
std::string codegen_folder(std::string_view codegen);
std::string codegen_list(std::string_view codegen);
std::string object(std::string_view library, std::string_view unit);
std::string description(std::string_view project);  ///< share/hallmark/PROJECT.json

}  // namespace hallmark::kernels::paths
