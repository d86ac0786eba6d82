#include "kernels/plan.h"

#include <algorithm>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/shell.h"
#include "kernels/internal/command_words.h"
#include "kernels/internal/library_plan.h"
#include "kernels/ninja_file.h"
#include "kernels/paths.h"

namespace hallmark::kernels {
namespace {

using manifest::ToolchainKind;

/// Units whose compiler this machine lacks are no part of the plan; they are told.
Result<std::vector<ToolchainKind>> usable_toolchains(const PlanRequest& request) {
  std::vector<ToolchainKind> usable;
  for (const auto kind : request.expansion.toolchains) {
    const auto* tool = find_tool(request.tools, kind);
    if (tool != nullptr && tool->missing.empty()) {
      usable.push_back(kind);
      continue;
    }
    const auto declared = std::ranges::find(request.manifest.toolchains, kind, &manifest::Toolchain::kind);
    if (declared != request.manifest.toolchains.end() && declared->required)
      return fail({ErrorKind::unsupported,
                   formatted("{}:{}:{}: toolchain {} is required: {}", request.manifest.file,
                             declared->place.line, declared->place.column, manifest::name_of(kind),
                             tool == nullptr ? "it was not looked for" : tool->missing),
                   "install it, or name another with `compiler`"});
  }
  return usable;
}

/// The edges of the generators, hallmark's own last, and the one that plans again when what they make
/// changes.
void add_generators(const PlanRequest& request, NinjaFile& ninja) {
  std::string selection;
  for (const auto& word : request.selection) selection += " " + shell_word(word);
  selection = ninja_value(selection);
  const auto program = ninja_value(shell_word(request.program));
  ninja.rules.push_back({"hallmark_plan",
                         {{"command", program + " plan-build" + selection},
                          {"description", "plan"},
                          {"generator", "1"},
                          {"restat", "1"}}});
  ninja.rules.push_back({"hallmark_generate",
                         {{"command", program + " run-codegen --generator $codegen" + selection},
                          {"description", "generate $codegen"},
                          {"depfile", "$out.d"},
                          {"deps", "gcc"},
                          {"restat", "1"}}});
  NinjaEdge own{{paths::codegen_list(paths::kOwnGenerator)}, "hallmark_generate"};
  own.variables = {{"codegen", std::string(paths::kOwnGenerator)}};
  NinjaEdge replan{{std::string(paths::kPlan)}, "hallmark_plan"};
  for (const auto* codegen : request.expansion.codegens) {
    const auto list = paths::codegen_list(codegen->name);
    ninja.edges.push_back({{list},
                           "hallmark_generate",
                           {},
                           {},
                           {},
                           {{"codegen", ninja_value(codegen->name + "@" + definition_of(*codegen))}}});
    own.implicit.push_back(list);
  }
  replan.inputs = own.implicit;
  replan.inputs.push_back(own.outputs.front());
  replan.implicit.push_back(request.manifest.file);
  ninja.edges.push_back(std::move(own));
  ninja.edges.push_back(std::move(replan));
}

}  // namespace

Result<Plan> make_plan(const PlanRequest& request, os::FileSystem& files) {
  const auto problems = unsupported_archs(request.expansion, request.tools);
  if (!problems.empty())
    return fail({ErrorKind::invalid, manifest::rendered(problems, request.manifest.file), {}});
  HALLMARK_TRY(const auto usable, usable_toolchains(request));

  Plan plan;
  plan.not_built = request.expansion.not_built;
  NinjaFile ninja;
  std::string run = shell_word(request.program) + " run --restat";
  if (!request.run_root.empty()) run += " --root " + shell_word(request.run_root);
  ninja.variables = {{"builddir", "."}, {"hallmark", ninja_value(run)}};
  add_generators(request, ninja);
  for (const auto& library : request.expansion.libraries) {
    LibraryPlanner planner(request, library, usable, files);
    HALLMARK_CHECK(planner.add_to(plan, ninja));
  }
  ninja.defaults.clear();
  for (const auto& library : plan.libraries) ninja.defaults.push_back(library.file);
  plan.ninja = text_of(ninja);
  return plan;
}

}  // namespace hallmark::kernels
