#include "engine/kinds.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/path.h"

namespace hallmark::engine {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 30> kCompilers = {
    "gcc",   "g++",     "cc",    "c++",  "c89",      "c99",   "clang", "clang++",  "clang-cl",   "cpp",
    "cc1",   "cc1plus", "nvcc",  "cicc", "cudafe++", "ptxas", "hipcc", "amdclang", "amdclang++", "gfortran",
    "flang", "f951",    "rustc", "icx",  "icpx",     "dpcpp", "nvc",   "nvc++",    "nvfortran",  "tcc"};
constexpr std::array<std::string_view, 11> kLinkers = {"ld",     "ld.bfd",   "ld.gold",    "ld.lld",
                                                       "gold",   "lld",      "ld.mold",    "mold",
                                                       "nvlink", "collect2", "lto-wrapper"};
constexpr std::array<std::string_view, 14> kAssemblers = {
    "as",  "nasm",    "yasm",      "objcopy", "llvm-objcopy",          "fatbinary", "bin2c", "llc",
    "opt", "llvm-as", "llvm-link", "llvm-mc", "clang-offload-bundler", "llvm-ar"};
// How the first word of a target begins, as config.sub of the GNU project and LLVM's Triple know it.
constexpr std::array<std::string_view, 21> kArchitectures = {
    "x86_64", "i386",  "i486",  "i586",   "i686",  "aarch64", "arm",  "riscv", "powerpc", "ppc", "mips",
    "s390",   "sparc", "loong", "amdgcn", "nvptx", "avr",     "wasm", "hppa",  "alpha",   "m68k"};
// Scripts that come with a toolkit: their name says what they do, as that of a program does.
constexpr std::array<std::string_view, 2> kToolkitScripts = {"hipcc", "hipcc.pl"};
constexpr std::array<std::string_view, 2> kNasms = {"nasm", "yasm"};
constexpr std::array<std::string_view, 3> kVariableReaders = {"rustc", "nasm", "yasm"};
constexpr std::array<std::string_view, 5> kRemotePeers = {"sccache", "distcc", "icecc", "icerun", "gomacc"};
constexpr std::array<std::string_view, 27> kTimestampReaders = {
    "gzip",  "pigz",    "ls",    "find",        "stat",  "du",    "touch", "7za",    "mksquashfs",
    "make",  "gmake",   "ninja", "ninja-build", "samu",  "cmake", "tar",   "bsdtar", "zip",
    "rsync", "install", "cp",    "cpio",        "meson", "scons", "bazel", "jar",    "7z"};
constexpr std::array<std::string_view, 14> kOracles = {"date", "uuidgen", "shuf",  "uptime", "ps",
                                                       "top",  "free",    "df",    "who",    "w",
                                                       "last", "vmstat",  "pgrep", "fortune"};
constexpr std::array<std::string_view, 7> kHostTellers = {"uname", "hostname", "arch",       "nproc",
                                                          "lscpu", "getconf",  "hostnamectl"};

std::string_view without_suffix(std::string_view name, std::string_view suffix) {
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

/// "g++-12" and "clang-14.0" without their version.
std::string_view without_version(std::string_view name) {
  const auto dash = name.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == name.size()) return name;
  const auto version = name.substr(dash + 1);
  const bool is_version =
      std::all_of(version.begin(), version.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return is_version ? name.substr(0, dash) : name;
}

template <std::size_t N>
bool names_tool(std::string_view name, const std::array<std::string_view, N>& tools) {
  if (is_one_of(name, tools)) return true;
  // A target in front: "x86_64-linux-gnu-g++".
  return std::any_of(tools.begin(), tools.end(), [&](std::string_view tool) {
    return name.size() > tool.size() + 1 && name.ends_with(tool) &&
           name[name.size() - tool.size() - 1] == '-' && name.find('-') < name.size() - tool.size() - 1;
  });
}

std::string_view tool_name(std::string_view program) {
  return without_version(without_suffix(path::base_name(program), ".exe"));
}

/// `word` begins with `option`: the rest, or the next argument if the rest is empty.
struct OptionValue {
  bool matched = false;
  std::string_view value;
};

class Words {
 public:
  explicit Words(const std::vector<std::string>& argv) : argv_(argv) {}
  bool next(std::string_view& word) {
    if (at_ >= argv_.size()) return false;
    word = argv_[at_++];
    return true;
  }
  std::string_view take() { return at_ < argv_.size() ? std::string_view(argv_[at_++]) : std::string_view(); }

 private:
  const std::vector<std::string>& argv_;
  std::size_t at_ = 1;
};

/// "native" as a value or as a part of one: -march=native, -Xcompiler=-O3,-march=native, -mcpu=native+crypto,
/// "-march=native -O3", target-cpu=native (behind -C); icx says -xHost.
bool is_native_request(std::string_view word) {
  constexpr std::string_view kNative = "native";
  if (word == kNative || word == "-xHost") return true;
  for (auto at = word.find(kNative, 1); at != std::string_view::npos; at = word.find(kNative, at + 1)) {
    const bool starts = std::string_view("=\"'").find(word[at - 1]) != std::string_view::npos;
    const auto end = at + kNative.size();
    const bool ends = end == word.size() || std::isalnum(static_cast<unsigned char>(word[end])) == 0;
    if (starts && ends && word.find('=') != std::string_view::npos) return true;
  }
  return false;
}

/// -Wp,-MD,file and -Wp,-MMD,file; also -MF,file inside.
void read_preprocessor_words(std::string_view list, Arguments& found) {
  std::vector<std::string_view> words;
  for (;;) {
    const auto comma = list.find(',');
    words.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = words[i];
    const bool takes_file = word == "-MD" || word == "-MMD" || word == "-MF";
    if (!takes_file && word != "-MP") continue;
    if (!found.depfile) found.depfile.emplace();
    if (word == "-MP") found.depfile->phony_targets = true;
    if (takes_file && i + 1 < words.size()) found.depfile->path = words[++i];
  }
}

// Options of the known drivers whose value is the next word, so that it is not taken for a source.
constexpr std::array<std::string_view, 38> kOptionsWithValue = {"-I",
                                                                "-D",
                                                                "-U",
                                                                "-L",
                                                                "-l",
                                                                "-x",
                                                                "-include",
                                                                "-imacros",
                                                                "-isystem",
                                                                "-iquote",
                                                                "-idirafter",
                                                                "-isysroot",
                                                                "-MT",
                                                                "-MQ",
                                                                "-Xcompiler",
                                                                "-Xptxas",
                                                                "-Xlinker",
                                                                "-Xassembler",
                                                                "-Xclang",
                                                                "-Xpreprocessor",
                                                                "-T",
                                                                "-u",
                                                                "-z",
                                                                "-arch",
                                                                "-gencode",
                                                                "-ccbin",
                                                                "-target",
                                                                "--param",
                                                                "-code",
                                                                "-std",
                                                                "--threads",
                                                                "-t",
                                                                "--generate-code",
                                                                "--gpu-architecture",
                                                                "--gpu-code",
                                                                "--compiler-options",
                                                                "--compiler-bindir",
                                                                "-mllvm"};

}  // namespace

ProgramKind kind_of_program(std::string_view program) {
  const auto name = tool_name(program);
  if (name == "ccache") return ProgramKind::peer_cache;
  if (is_one_of(name, kRemotePeers)) return ProgramKind::peer_remote;
  if (names_tool(name, kCompilers)) return ProgramKind::compiler;
  if (names_tool(name, kLinkers)) return ProgramKind::linker;
  if (names_tool(name, kAssemblers)) return ProgramKind::assembler;
  return ProgramKind::other;
}

bool reads_c_sources(std::string_view program) {
  return names_tool(tool_name(program), kCompilers);
}

bool reads_nasm_sources(std::string_view program) {
  return names_tool(tool_name(program), kNasms);
}

bool nasm_asks_for_clock(std::string_view text) {
  // NASM manual, "Assembly Date and Time Macros"; the spelling with question marks since NASM 2.15.
  for (const std::string_view word : {"DATE", "TIME", "UTC_DATE", "UTC_TIME", "POSIX_TIME"}) {
    for (const std::string_view before : {"__", "__?"}) {
      if (text.find(std::string(before).append(word)) != std::string_view::npos) return true;
    }
  }
  return false;
}

bool reads_timestamps(std::string_view program) {
  return is_one_of(tool_name(program), kTimestampReaders);
}

bool is_tool_name(std::string_view program) {
  const auto name = tool_name(program);
  if (is_one_of(name, kCompilers) || is_one_of(name, kLinkers) || is_one_of(name, kAssemblers)) return true;
  switch (kind_of_program(program)) {
    case ProgramKind::compiler:
    case ProgramKind::linker:
    case ProgramKind::assembler:
      return std::any_of(kArchitectures.begin(), kArchitectures.end(),
                         [&](std::string_view architecture) { return name.starts_with(architecture); });
    default:
      return false;
  }
}

bool is_known_tool(const model::Command& command) {
  const auto& program = command.argv.front();
  return is_tool_name(program) && (!command.script || is_one_of(tool_name(program), kToolkitScripts));
}

bool looks_for_existence_alone(const model::Command& command) {
  if (is_known_tool(command)) return true;
  constexpr std::array<std::string_view, 2> kOwnVerbs = {"write-files", "copy-files"};
  return !command.script && path::base_name(command.argv.front()) == "hallmark-full" &&
         command.argv.size() > 1 && is_one_of(command.argv[1], kOwnVerbs);
}

bool may_read_any_variable(std::string_view program) {
  return !is_tool_name(program) || names_tool(tool_name(program), kVariableReaders);
}

bool shows_any_variable(const model::Command& command) {
  return !is_known_tool(command) || may_read_any_variable(command.argv.front());
}

bool is_oracle(std::string_view program) {
  return is_one_of(path::base_name(program), kOracles);
}

bool tells_host(std::string_view program) {
  return is_one_of(path::base_name(program), kHostTellers);
}

bool is_nvcc_temporary(std::string_view name) {
  constexpr std::string_view kMark = "tmpxft_";
  constexpr std::size_t kProcessDigits = 8;
  if (!name.starts_with(kMark)) return false;
  name.remove_prefix(kMark.size());
  return name.size() > kProcessDigits && name[kProcessDigits] == '_' &&
         std::all_of(name.begin(), name.begin() + kProcessDigits,
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool leaves_descriptors_alone(const std::vector<std::string>& argv) {
  const auto names_descriptor = [](const std::string& word) {
    return word.find("/dev/fd/") != std::string::npos || word.find("/proc/") != std::string::npos;
  };
  return kind_of_program(argv.front()) != ProgramKind::other &&
         std::none_of(argv.begin(), argv.end(), names_descriptor);
}

Arguments read_arguments(const std::vector<std::string>& argv) {
  Arguments found;
  bool wants_depfile = false;
  bool phony = false;
  std::string depfile_path;
  Words words(argv);
  std::string_view word;
  while (words.next(word)) {
    if (is_native_request(word)) found.native_machine = true;
    if (word == "-o" || word == "--output" || word == "--output-file") {
      found.output = words.take();
    } else if (word.starts_with("--output=") || word.starts_with("--output-file=")) {
      found.output = word.substr(word.find('=') + 1);
    } else if (word == "-MD" || word == "-MMD" || word == "--generate-dependencies-with-compile" ||
               word == "--generate-nonsystem-dependencies-with-compile" || word == "--write-dependencies" ||
               word == "--write-user-dependencies") {
      wants_depfile = true;
    } else if (word == "-MP" || word == "--generate-dependency-targets") {
      phony = true;
    } else if (word == "-MF" || word == "--dependency-output") {
      depfile_path = words.take();
      wants_depfile = true;
    } else if (word.starts_with("-MF") && word.size() > 3) {
      depfile_path = word.substr(3);
      wants_depfile = true;
    } else if (word.starts_with("--dependency-output=")) {
      depfile_path = word.substr(word.find('=') + 1);
      wants_depfile = true;
    } else if (word.starts_with("-Wp,")) {
      read_preprocessor_words(word.substr(4), found);
    } else if (is_one_of(word, kOptionsWithValue)) {
      const auto value = words.take();
      if (is_native_request(value)) found.native_machine = true;
    } else if (word.starts_with("-o") && word.size() > 2 && !word.starts_with("-openmp") &&
               !word.starts_with("-opt")) {
      found.output = word.substr(2);
    } else if (!word.starts_with('-')) {
      found.sources.emplace_back(word);
    }
  }
  if (wants_depfile) {
    if (!found.depfile) found.depfile.emplace();
    if (!depfile_path.empty()) found.depfile->path = depfile_path;
  }
  if (found.depfile && phony) found.depfile->phony_targets = true;
  return found;
}

std::vector<std::string> split_response_file(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word.push_back(text[++i]);
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      word.push_back(c);
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace hallmark::engine
