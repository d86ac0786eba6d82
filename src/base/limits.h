// Every limit of hallmark has a name here, its unit last. A limit that is reached is reported by this name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hallmark::limits {

inline constexpr std::size_t kPathBytes = 4096;         ///< one path, as the kernel's PATH_MAX
inline constexpr std::size_t kPathSetsPerWeakKey = 20;  ///< most recent first, older ones are dropped
inline constexpr std::size_t kObservedPaths = 150'000;  ///< distinct paths of one command; beyond: unproven
inline constexpr std::size_t kStreamCaptureBytes =
    16u << 20;                                         ///< stdout or stderr kept for replay; beyond: unproven
inline constexpr std::size_t kStdinBytes = 64u << 20;  ///< piped stdin that is buffered and hashed
inline constexpr std::size_t kRecordBytes = 64u << 20;            ///< one encoded weak entry or record
inline constexpr std::size_t kBlobBytes = std::size_t{16} << 30;  ///< one output
inline constexpr std::size_t kNamelessOutputs = 200;  ///< of one replay, a descriptor each; others are hidden
inline constexpr std::size_t kSymlinkHops = 40;       ///< links followed in one look-up, as the kernel
inline constexpr std::size_t kShebangHops = 4;        ///< interpreters of interpreters, as the kernel
inline constexpr std::size_t kRingBytes = 4u << 20;   ///< shared memory between agents and the supervisor
inline constexpr std::int64_t kRingStuck_ms = 1000;   ///< for a writer that was stopped or killed half-way
inline constexpr std::size_t kHintPrograms = 2048;    ///< programs remembered by the hybrid tier's hints
inline constexpr std::size_t kReasonsPerDecision = 32;  ///< further ones are counted, not listed
inline constexpr std::size_t kSiteHistory = 4;          ///< earlier weak keys kept to explain a miss
inline constexpr std::size_t kConfigBytes = 1u << 20;   ///< one configuration file, or its compiled form
inline constexpr std::size_t kAncestorHops = 32;        ///< processes looked at to find a build tool
inline constexpr std::size_t kDigestTablePages =
    8192;  ///< pages of 51 file digests; full: the page's oldest go
inline constexpr std::size_t kCounterLogBytes = 256u
                                                << 10;  ///< the store's counter log before it is summed up
inline constexpr std::size_t kMadeLogBytes = 128u
                                             << 20;   ///< the log of who made what, before it is shortened
inline constexpr std::size_t kMakersPerContent = 64;  ///< runs that are known to have made equal bytes
inline constexpr std::size_t kManifestBytes = 16u << 20;  ///< one hallmark.toml
inline constexpr std::size_t kManifestProblems = 100;     ///< of one manifest that are shown
inline constexpr std::size_t kManifestKeyParts = 250;     ///< of one key: a.b.c
inline constexpr std::size_t kVariants = 1'000'000;       ///< of one kernel, before `skip`
inline constexpr std::size_t kGlobbedFiles = 1'000'000;   ///< that one pattern matches
inline constexpr std::size_t kTemplateBytes = 16u << 20;  ///< one template of kernels
inline constexpr std::size_t kSettledFileBytes = std::size_t{4}
                                                 << 30;        ///< a file that a build copies or compares
inline constexpr std::size_t kGeneratorListBytes = 64u << 20;  ///< what a code generator lists
inline constexpr std::size_t kGeneratedFiles = 200'000;        ///< of one code generator
inline constexpr std::size_t kFolderDepth = 256;               ///< of a tree that is walked
inline constexpr std::size_t kProcessMapsBytes = 64u << 20;    ///< /proc/PID/maps
inline constexpr std::size_t kTestRuns = 1024;                 ///< of one root that are remembered
inline constexpr std::size_t kTestReportBytes = 256u << 20;    ///< one report of tests
inline constexpr std::size_t kTestProgramBytes = 1u << 30;  ///< of a program that may have GoogleTest in it
inline constexpr std::size_t kInspectedFileBytes = std::size_t{4} << 30;  ///< one file of `inspect`
inline constexpr std::size_t kDerivationSteps = 512;  ///< from an artifact to its farthest source
inline constexpr std::int64_t kStoreSweep_ns =
    86'400'000'000'000;  ///< how often, and from what age, leftovers are removed
inline constexpr std::int64_t kRacyWindow_ns =
    20'000'000;                                         ///< mtime or ctime this near to now is not trusted
inline constexpr std::int64_t kSurvivorGrace_ms = 200;  ///< for children that outlive the command

inline constexpr std::size_t kListingBytes = 16u << 20;  ///< all names of all listings of one command
inline constexpr std::size_t kHashedBeforeChangeBytes =
    64u << 20;                                             ///< an input that the command is about to change
inline constexpr std::size_t kKernelFileBytes = 1u << 20;  ///< a file of /proc or /sys

}  // namespace hallmark::limits
