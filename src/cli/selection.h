// The flags by which verbs choose what of a manifest they mean.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/parser.h"
#include "manifest/expand.h"
#include "model/command.h"

namespace hallmark::cli {

inline constexpr std::array kSelectionFlags = {
    Flag{"--profile", "NAME", "A profile of the manifest; default: \"default\""},
    Flag{"--arch", "A",
         "Build for this arch: x86-64-v3, sm_90, gfx90a, native; default: what the manifest says", true},
    Flag{"--library", "NAME", "Only this library, and what it links", true},
    Flag{"--option", "NAME=VALUE", "Set an option of the manifest", true},
    Flag{"--build-dir", "DIR", "The build folder; default: what the manifest says"},
};

/// Errors: invalid (an option without `=`).
Result<manifest::Selection> selection_of(const Parsed& parsed, const model::Environment& environment);

/// The one operand [DIR|FILE]; empty if there is none. Error: invalid (there are several).
Result<std::string> manifest_operand(const Parsed& parsed);

/// Flags that choose the same from any folder.
std::vector<std::string> selection_words(const Parsed& parsed, const std::string& cwd);

}  // namespace hallmark::cli
