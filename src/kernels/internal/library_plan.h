// The part of a plan that makes one library: rules, edges and generated files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/internal/command_words.h"
#include "kernels/ninja_file.h"
#include "kernels/plan.h"
#include "os/file_system.h"

namespace hallmark::kernels {

/// Changes when what a generator is asked to do changes.
std::string definition_of(const manifest::Codegen& codegen);

class LibraryPlanner {
 public:
  LibraryPlanner(const PlanRequest& request, const manifest::ExpandedLibrary& library,
                 const std::vector<manifest::ToolchainKind>& usable, os::FileSystem& files)
      : request_(request), library_(library), declared_(*library.library), usable_(usable), files_(files) {}

  Status add_to(Plan& plan, NinjaFile& ninja);

 private:
  using Kind = manifest::ToolchainKind;

  bool is_usable(Kind kind) const;
  const Tool& tool_of(Kind kind) const;
  /// As it stands in commands: relative to the build folder if it lies below the manifest's, so that another
  /// checkout has the same commands.
  std::string near(const std::string& absolute) const;
  Result<Words> filled(const std::vector<std::string>& words) const;
  std::vector<std::string> archs_of(Kind kind) const;

  Status choose_units(Plan& plan);
  Status add_generated_units();
  Status add_rule(const manifest::Unit& unit, NinjaFile& ninja);
  std::string rule_of(const manifest::Unit& unit) const;
  Result<Words> words_of(const manifest::Unit& unit) const;
  Status add_unit(const manifest::Unit& unit, Plan& plan, NinjaFile& ninja);
  Status add_embedding(Plan& plan, NinjaFile& ninja);
  Status add_link(Plan& plan, NinjaFile& ninja);
  Result<std::vector<std::string>> exports() const;

  const PlanRequest& request_;
  const manifest::ExpandedLibrary& library_;
  const manifest::Library& declared_;
  const std::vector<Kind>& usable_;
  os::FileSystem& files_;
  std::vector<manifest::Unit> units_;
  std::vector<std::string> objects_;
  std::string template_file_;
  std::string template_text_;
};

}  // namespace hallmark::kernels
