#include "cli/table.h"

#include <algorithm>
#include <array>

#include "app/make_asker.h"
#include "cli/selection.h"

namespace hallmark::cli {
namespace {

constexpr Flag kHelp = {"--help", "", "Show this help"};
constexpr Flag kJson = {"--json", "", "Print one JSON object to stdout"};
constexpr Flag kRoot = {
    "--root", "DIR", "The root of the tree; default: nearest .hallmark, else the git top level, else here"};

constexpr std::array kCommonFlags = {kHelp};

constexpr std::array kRunFlags = {
    Flag{"--depfile", "F", "Write a make-style depfile of what the command really used"},
    Flag{"--output", "P", "A file that the command makes; it may lie anywhere", true},
    Flag{"--restat", "",
         "Leave an output untouched if its bytes are equal (the caller's rule has restat = 1)"},
    kRoot,
    Flag{"--stamp", "",
         "Stamp what the command makes, and put an attestation beside each artifact (ARTIFACT.intoto.json), "
         "so "
         "that `hallmark verify` can judge it without the store"},
    Flag{"--cache", "", "Replay a program of any kind, not only compilers, linkers and steps of a build"},
    Flag{"--json", "",
         "Print one JSON object to stderr when the command has ended (stdout is the command's)"},
    Flag{"--explain", "", "Say on stderr what happened, and why"},
};
constexpr Flag kTree = {
    "--root", "DIR",
    "The tree in which the sources are looked for; default: where the artifact was made, or "
    "where it lies as an output"};
constexpr std::array kWhyFlags = {
    Flag{"--last-miss", "",
         "The last command below the root that ran although an earlier run was known; the default"},
    Flag{"--to", "FILE", "Only the paths that lead to this file"},
    Flag{"--stale", "", "Only what differs today, and the commands that would run again"},
    Flag{"--all", "", "Name the files outside of the tree (toolchain, system headers), too"},
    Flag{"--dot", "", "Print a graph for Graphviz"},
    kTree,
    kJson,
};
constexpr std::array kVerifyArtifactFlags = {
    Flag{"--build-dir", "DIR",
         "Every artifact of a build folder of Ninja or Make; names those that are not fresh"},
    Flag{"--pid", "P", "Every file from which a running process executes code"},
    Flag{"--attestation", "FILE",
         "The attestation of the one ARTIFACT; default: ARTIFACT.intoto.json, beside it"},
    Flag{
        "--weak", "",
        "What nobody recorded is FRESH if Ninja's graph and logs, #include lines and file times show nothing "
        "newer; without this it is UNKNOWN then"},
    kTree,
    kJson};
constexpr std::array kAuditFlags = {
    Flag{"--observe", "",
         "Run compiles whose runs are not recorded, observed, with their outputs in a scratch folder"},
    Flag{"--fix", "", "Print what to put into the build so that it knows of these files"},
    Flag{"--all", "", "Name the files of the compiler and the system, too"},
    kRoot,
    kJson,
};
constexpr std::array kWhichTestsFlags = {
    Flag{"--build-dir", "DIR",
         "Look at the programs of this build, too; default: at builds at most two folders below the root"},
    kTree,
    kJson,
};
constexpr std::array kTestFlags = {
    Flag{"--covers", "FILE", "Something that was loaded must be made of this source", true},
    Flag{"--must-load", "LIB", "This library must have been loaded, not another copy", true},
    Flag{"--min-tests", "N", "At least so many tests must have run; default 1; 0: no report is needed"},
    kTree,
    Flag{"--json", "",
         "Print one JSON object to stderr when the command has ended (stdout is the command's)"},
};
constexpr std::array kInspectFlags = {
    Flag{"--arch", "A",
         "Each kernel must have code that runs on this device: sm_90, 9.0, gfx90a, gfx90a:xnack+", true},
    Flag{"--all", "", "Name every kernel, and every symbol that is defined twice"},
    kJson,
};
constexpr std::array kStatsFlags = {kRoot, kJson};
constexpr std::array kVerifyFlags = {
    Flag{"--repair", "", "Remove what is damaged"},
    kRoot,
    kJson,
};
constexpr std::array kManifestFlags = {
    kSelectionFlags[0], kSelectionFlags[1], kSelectionFlags[2], kSelectionFlags[3], kSelectionFlags[4], kJson,
};
constexpr std::array kManifestExpandFlags = {
    kSelectionFlags[0],
    kSelectionFlags[1],
    kSelectionFlags[2],
    kSelectionFlags[3],
    kSelectionFlags[4],
    Flag{"--kernel", "NAME", "Only the variants of this kernel", true},
    kJson,
};
constexpr std::array kLookFlags = {kRoot, kJson};
constexpr std::array kBuildFlags = {
    kSelectionFlags[0],
    kSelectionFlags[1],
    kSelectionFlags[2],
    kSelectionFlags[3],
    kSelectionFlags[4],
    Flag{"--jobs", "N", "Commands at once; default: as Ninja decides"},
    Flag{"--keep-going", "", "Build what can be built when a command fails"},
    Flag{"--verbose", "", "Show the whole commands"},
    kJson,
};
constexpr std::array kCodegenFlags = {
    kSelectionFlags[0],
    kSelectionFlags[1],
    kSelectionFlags[2],
    kSelectionFlags[3],
    kSelectionFlags[4],
    Flag{"--generator", "NAME@DEFINITION", "Which"},
    Flag{"--into", "DIR", "Where to"},
};
constexpr std::array kCopyFlags = {Flag{"--into", "DIR", "Where to"}};
constexpr std::array<std::string_view, 3> kShells = {"bash", "zsh", "fish"};

constexpr std::array kVerbs = {
    Verb{"run",
         Operands::command,
         "[--] CMD...",
         {},
         "Run one command, observed and cached",
         "The command runs under observation: every file that it reads, every name that it looks for in "
         "vain, every folder that it "
         "lists. When nothing of that changed, its outputs, stdout and stderr are replayed instead.\n\n"
         "Works as a prefix of any command and as CMAKE_<LANG>_COMPILER_LAUNCHER. The command's exit code, "
         "signals, terminal and "
         "streams pass through. Compilers, linkers, assemblers and the steps of a build (below ninja, make, "
         "cmake, or with "
         "--depfile) are replayed; other programs only with --output or --cache.\n\n"
         "Silent unless something is wrong. If only the cache is at fault, the command still runs.",
         kRunFlags},
    Verb{"build",
         Operands::any,
         "[DIR|hallmark.toml]",
         {},
         "Build the kernel libraries of a manifest",
         "Reads hallmark.toml (that of the nearest folder at or above this one), checks out what is not at "
         "its pin, plans, and "
         "has Ninja build what is not up to date; each command is observed and cached. Leaves lib/, include/ "
         "and "
         "share/hallmark/PROJECT.json in the build folder. The source tree is not written to.\n\n"
         "What is not built, for lack of a compiler or since no arch of it was asked for, is told. Exit code "
         "1: a command "
         "of the build failed, and no library is to be used.",
         kBuildFlags},
    Verb{
        "verify",
        Operands::any,
        "[ARTIFACT...]",
        {},
        "Say whether artifacts are what today's sources give",
        "FRESH: each input of each command in the chain, down to the sources, is what it was. STALE: one "
        "differs; it is named, with the commands that lead from it to the artifact. UNKNOWN: it cannot be "
        "told, and why. Nothing is executed.\n\n"
        "Works for whatever `hallmark run` made, for copies of it, and with the build folder gone. What "
        "`hallmark run "
        "--stamp` made is judged without the store, too, also when it was stripped or its rpath edited. In a "
        "Ninja "
        "build that hallmark did not make, Ninja's own graph and logs, #include lines and the times of files "
        "are looked at: weaker evidence, which finds what is STALE and proves nothing FRESH (but see "
        "--weak).\n\n"
        "Exit code 0: all are fresh; 1: one is not.",
        kVerifyArtifactFlags},
    Verb{"audit",
         Operands::one,
         "BUILD_DIR",
         {},
         "List what a build does not know that it reads",
         "For each edge of a build, the files that its command reads are compared with those that the build "
         "tool compares: inputs, Ninja's dependency log, dependency files. Ninja's files are read; GNU Make "
         "is "
         "asked with -n what its default goal would do, which makes nothing but runs $(shell ...) and lines "
         "with +; of neither, compile_commands.json is read. What is not built yet is left out. What is read "
         "is known from records; without "
         "them from observing the compile (--observe), or, weaker, from its #include lines. A file that is "
         "read "
         "and not compared is listed with the outputs that an edit of it would leave stale.\n\n"
         "Also: sources made when the build was configured, globs without CONFIGURE_DEPENDS, dependencies "
         "that "
         "are gone (the edge runs in every build), artifacts that no edge makes, outputs that no edge "
         "declares, "
         "and files that two edges write.\n\n"
         "Exit code 0: nothing; 1: something is listed.",
         kAuditFlags},
    Verb{
        "test",
        Operands::command,
        "[--] CMD...",
        {},
        "Run tests, and refuse a green that means nothing",
        "The command runs observed, with its streams passed through; it is never replayed. Afterwards it is "
        "refused, also if it says that all is well, when no test ran (the filter matches nothing, all were "
        "skipped, the shard or the build folder is empty), when one failed or broke off and the command "
        "hides "
        "it, when it loaded a program or library that is stale, or when what was demanded of it does not "
        "hold.\n\n"
        "Tests are counted by the reports of GoogleTest, pytest and ctest, which are asked for through "
        "GTEST_OUTPUT, PYTEST_ADDOPTS and --output-junit, else by the summary that they (or unittest) print. "
        "Loaded files are judged as `hallmark verify` does, if a recorded command made them or they lie "
        "below the root.\n\n"
        "Exit code: the command's own; 1 if that is 0 and the run is refused.",
        kTestFlags},
    Verb{"which-tests",
         Operands::one,
         "FILE",
         {},
         "List test programs that load something made of a file",
         "Known are the programs and libraries that earlier runs of `hallmark test` loaded, and the programs "
         "of "
         "the builds below the root with what they were linked with. Exit code 0: one or more; 1: none.",
         kWhichTestsFlags},
    Verb{
        "inspect",
        Operands::any,
        "FILE...",
        {},
        "Show what is in libraries, objects and fat binaries, and what collides",
        "Of ELF files: type, build-id, SONAME, RPATH, RUNPATH, exports. Of device code in objects, "
        "libraries, "
        "archives, cubins, fat binaries and offload bundles: for which devices each kernel has code; a "
        "kernel "
        "that lacks what its siblings have is named.\n\n"
        "Of several programs and libraries: the symbols that more than one of them exports, so that only the "
        "one loaded first is used. They are taken to load together, programs first, then in the given order; "
        "the libraries that they need are not looked for.\n\n"
        "Exit code 1: symbols collide, or (--arch) a kernel has no code for the device, or nobody can tell; "
        "2: "
        "a file cannot be read.",
        kInspectFlags},
    Verb{"why",
         Operands::any,
         "[ARTIFACT]",
         {},
         "Show what an artifact was made of, or what made a command run again",
         "With an artifact: the commands and files from which it was made, as a tree. Exit code 1: no "
         "recorded command made it, or (--to) the file is not among its sources.\n\n"
         "Without: names the exact file, absent name, listing, variable, argument or tool in which the last "
         "command that ran again differed from its nearest earlier run. Exit code 1: no miss is recorded "
         "below the root.",
         kWhyFlags},
    Verb{"manifest check",
         Operands::any,
         "[DIR|FILE]",
         {},
         "Say all that is wrong with a hallmark.toml",
         "Each problem is a line FILE:LINE:COLUMN. Without --profile every profile is looked at. Patterns "
         "below a source that is not checked out yet are passed over.\n\n"
         "Exit code 0: nothing is wrong; 2: something is.",
         kManifestFlags},
    Verb{"manifest show",
         Operands::any,
         "[DIR|FILE]",
         {},
         "Show what a build of a hallmark.toml would be made of",
         "Project, profile, archs and options with who decided them (command line, profile, manifest, "
         "environment, machine), sources with their pins, libraries, and what is not built, and why. Nothing "
         "is built or fetched.",
         kManifestFlags},
    Verb{"manifest expand",
         Operands::any,
         "[DIR|FILE]",
         {},
         "List every unit that a hallmark.toml compiles",
         "A line for each: library, unit, toolchain, archs with commas (or -), file, with tabs between them. "
         "Units of code generators are not among them: they are known when the generator has run.",
         kManifestExpandFlags},
    Verb{"cache stats",
         Operands::none,
         "",
         {},
         "Show what the store holds and what it spared",
         "",
         kStatsFlags},
    Verb{"cache verify",
         Operands::none,
         "",
         {},
         "Read the whole store and check every byte",
         "May run beside builds. Exit code 4: something was damaged and is still there.",
         kVerifyFlags},
    Verb{"config", Operands::none, "", {}, "Show each setting and where it came from", "", kLookFlags},
    Verb{"doctor",
         Operands::none,
         "",
         {},
         "Show what works on this machine, and why the rest does not",
         "Tries each way of observing, opens the store, looks for compilers. Exit code 1: commands cannot be "
         "observed, or the "
         "store cannot be used.",
         kLookFlags},
    Verb{"help", Operands::verb, "[VERB]", {}, "Show all verbs, or the help of one", "", {}},
    Verb{"completions",
         Operands::one,
         "SHELL",
         kShells,
         "Print the completions of a shell",
         "bash: source <(hallmark completions bash). zsh: write it to a file _hallmark in a folder of "
         "$fpath. fish: hallmark "
         "completions fish | source.",
         {}},
    Verb{"man", Operands::none, "", {}, "Print the manual page", "To read it: hallmark man | man -l -", {}},
    Verb{"compile-config",
         Operands::one,
         "ROOT",
         {},
         "Compile the configuration files of a root to stdout",
         "",
         {},
         true},
    Verb{"plan-build",
         Operands::any,
         "[MANIFEST]",
         {},
         "Plan a build anew; for build.ninja",
         "",
         kBuildFlags,
         true},
    Verb{"write-files",
         Operands::any,
         "[MANIFEST]",
         {},
         "Write the files that hallmark generates; for run-codegen",
         "",
         kCodegenFlags,
         true},
    Verb{"copy-files",
         Operands::any,
         "FILE...",
         {},
         "Copy files into a folder; for run-codegen",
         "",
         kCopyFlags,
         true},
    Verb{"run-codegen",
         Operands::any,
         "[MANIFEST]",
         {},
         "Run a code generator of a manifest; for build.ninja",
         "",
         kCodegenFlags,
         true},
    Verb{app::kAskMakeVerb,
         Operands::command,
         "[--] ARGUMENT...",
         {},
         "Tell what a sub-make would do; for audit",
         "",
         {},
         true},
};

constexpr std::array kVariables = {
    Described{"HALLMARK_STORE",
              "Folder of the store; default $XDG_CACHE_HOME/hallmark, else ~/.cache/hallmark"},
    Described{"HALLMARK_ROOT", "As --root"},
    Described{"HALLMARK_OBSERVE",
              "The best way of observing that may be used: hybrid, notify, ptrace or none"},
    Described{"HALLMARK_ARCHS",
              "Archs to build kernels for, with commas between them, where neither --arch nor the manifest "
              "names any"},
    Described{"HALLMARK_DISABLE", "1: run commands directly, neither observed nor cached"},
};

constexpr std::array kExitCodes = {
    Described{"0", "All is well; of `run`: the command's own code, 128 + n if signal n ended it"},
    Described{"1", "A negative answer"},
    Described{"2", "Wrong usage"},
    Described{"3", "The environment lacks something"},
    Described{"4", "The store is damaged"},
    Described{"70", "A bug of hallmark"},
    Described{"125", "`run`: hallmark itself failed"},
    Described{"126", "`run`: the command cannot be executed"},
    Described{"127", "`run`: the command was not found"},
};

}  // namespace

std::span<const Verb> verbs() {
  return kVerbs;
}
std::span<const Flag> common_flags() {
  return kCommonFlags;
}

const Verb* find_verb(std::string_view name) {
  const auto* found =
      std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& verb) { return verb.name == name; });
  return found == kVerbs.end() ? nullptr : found;
}

std::span<const Described> described_variables() {
  return kVariables;
}
std::span<const Described> described_exit_codes() {
  return kExitCodes;
}

}  // namespace hallmark::cli
