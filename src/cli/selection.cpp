#include "cli/selection.h"

#include "base/format.h"
#include "base/path.h"

namespace hallmark::cli {

Result<manifest::Selection> selection_of(const Parsed& parsed, const model::Environment& environment) {
  manifest::Selection selection;
  selection.profile = parsed.value("--profile");
  selection.archs = parsed.values("--arch");
  selection.libraries = parsed.values("--library");
  selection.folder = parsed.value("--build-dir");
  for (const auto& option : parsed.values("--option")) {
    const auto equals = option.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail({ErrorKind::invalid, formatted("--option wants NAME=VALUE, not `{}`", option),
                   "`hallmark manifest show` lists the options of a manifest"});
    selection.options.emplace_back(option.substr(0, equals), option.substr(equals + 1));
  }
  if (const auto archs = environment.find("HALLMARK_ARCHS"); archs != environment.end())
    selection.environment_archs = archs->second;
  return selection;
}

Result<std::string> manifest_operand(const Parsed& parsed) {
  if (parsed.operands.size() > 1)
    return fail({ErrorKind::invalid,
                 formatted("`hallmark {}` takes one DIR or FILE, not several", parsed.verb->name),
                 "name the hallmark.toml or its folder"});
  return parsed.operands.empty() ? std::string() : std::string(parsed.operands.front());
}

std::vector<std::string> selection_words(const Parsed& parsed, const std::string& cwd) {
  std::vector<std::string> words;
  for (const auto& flag : kSelectionFlags)
    for (const auto& value : parsed.values(flag.name)) {
      words.emplace_back(flag.name);
      words.push_back(flag.name == "--build-dir" ? path::join(cwd, value) : value);
    }
  return words;
}

}  // namespace hallmark::cli
