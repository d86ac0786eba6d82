// What the arch `native` means on this machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/session.h"
#include "manifest/expand.h"
#include "manifest/manifest.h"

namespace hallmark::app {

using NativeArchs = std::map<manifest::ToolchainKind, std::vector<std::string>>;

/// For each toolchain, without repetitions; empty where this machine cannot tell (no device, no driver). Asks
/// the drivers' own programs, and only if this selection says `native` and the manifest has something for
/// that device: nvidia-smi can take seconds.
NativeArchs native_archs(const Session& session, const manifest::Manifest& manifest,
                         const manifest::Selection& selection);
/// For any selection.
NativeArchs native_archs(const Session& session, const manifest::Manifest& manifest);

/// The archs in what `nvidia-smi --query-gpu=compute_cap --format=csv,noheader` prints: "9.0" is sm_90.
std::vector<std::string> archs_of_nvidia_smi(std::string_view text);
/// The archs in what `rocm_agent_enumerator` prints: a line each; gfx000 is the processor.
std::vector<std::string> archs_of_rocm_agents(std::string_view text);

}  // namespace hallmark::app
