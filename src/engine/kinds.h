// Kinds: what is known of a command by its name and arguments alone: whether it may be cached, which files it
// is told to make, which caches stand in front of it. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/command.h"

namespace hallmark::engine {

enum class ProgramKind : std::uint8_t {
  compiler,  ///< C, C++, CUDA, HIP, Fortran, Rust drivers and what they start
  linker,
  assembler,    ///< and tools that make object files from object files
  peer_cache,   ///< ccache: bypassed
  peer_remote,  ///< sccache, distcc, icecc, gomacc: their results come from elsewhere
  other,
};

/// By the last component of a program's path: versions ("g++-12"), targets in front
/// ("aarch64-linux-gnu-gcc") and ".exe" are looked through.
ProgramKind kind_of_program(std::string_view path);

/// A program that a tool of C's family starts to read source texts; their __DATE__ and __TIME__ mean the
/// clock.
bool reads_c_sources(std::string_view program);
/// NASM and Yasm, whose sources ask for the time by words of their own (nasm_asks_for_clock).
bool reads_nasm_sources(std::string_view program);
/// Whether a text holds one of them, comments included: __TIME__, __?UTC_DATE?__ and their like.
bool nasm_asks_for_clock(std::string_view text);
/// A program that looks at modification times to decide or to record (make, tar, install ...): rule 4.
bool reads_timestamps(std::string_view program);
/// Whether the name is that of a compiler, linker or assembler beyond doubt: with nothing or a known
/// architecture in front. kind_of_program() takes "my-run-opt" for one, too: to be careful with it, not to
/// trust it.
bool is_tool_name(std::string_view program);
/// A compiler, linker or assembler itself. A script that bears such a name is somebody's own ("gcc" in front
/// of gcc): it may read, and do, what it likes.
bool is_known_tool(const model::Command& command);
/// A command that makes nothing of the size and the times of a file that it looks at and does not read: known
/// tools, and what hallmark's own builds start to generate files.
bool looks_for_existence_alone(const model::Command& command);
/// By the name alone, as weak keys need it: what the file is, a look-up asks later.
bool may_read_any_variable(std::string_view program);
/// Whether any variable can reach what the command makes: all but known tools, and languages whose sources
/// can name one (env! of Rust, %!NAME of NASM). The other compilers, linkers and assemblers read only
/// variables that are meant for them.
bool shows_any_variable(const model::Command& command);
/// A program whose answer is the time, chance or the machine's state: nothing of it can be replayed.
bool is_oracle(std::string_view program);
/// A program that tells about the host (uname, hostname, nproc): Aspect::machine "host".
bool tells_host(std::string_view program);

/// The name of a file that nvcc keeps in the temporary folder: "tmpxft_<process, 8 hex>_...". No other run
/// meets it, whether it was there or looked for in vain.
bool is_nvcc_temporary(std::string_view name);

/// A compiler, linker or assembler whose words name no descriptor: one that leaked into the build from a
/// terminal or a CI agent means nothing to it.
bool leaves_descriptors_alone(const std::vector<std::string>& argv);

/// A dependency file that the arguments order.
struct DepfileRequest {
  std::string path;            ///< as spelled; empty: derived from the output by the tool
  bool phony_targets = false;  ///< -MP
};

/// What the arguments of a known tool say. Response files (@file) are expanded by the caller.
struct Arguments {
  std::string output;                     ///< of -o; empty: none
  std::optional<DepfileRequest> depfile;  ///< -MD, -MMD, -MF, -Wp,-MD,..., --dependency-output, ...
  bool native_machine = false;  ///< -march=native, -mtune=native, -arch=native, --offload-arch=native ...
  std::vector<std::string> sources;  ///< words that are no options and name no output
};
Arguments read_arguments(const std::vector<std::string>& argv);

/// `argv` with each response file replaced by its words: "@file", and nvcc's "-optf file" in its spellings.
/// `read` gives a file's text or nullopt (the word then stays).
template <class Read>
std::vector<std::string> expand_response_files(const std::vector<std::string>& argv, Read&& read,
                                               int depth = 0);

/// Splits the text of a response file: blanks separate, quotes and backslashes protect.
std::vector<std::string> split_response_file(std::string_view text);

/// The file that one word alone names as a response file; empty: none.
inline std::string_view response_file_in(std::string_view word) {
  for (const std::string_view mark : {"@", "-optf=", "--options-file="}) {
    if (word.starts_with(mark)) return word.substr(mark.size());
  }
  return {};
}

template <class Read>
std::vector<std::string> expand_response_files(const std::vector<std::string>& argv, Read&& read, int depth) {
  constexpr int kDepth = 8;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const auto& word = argv[i];
    const bool next = (word == "-optf" || word == "--options-file") && i + 1 < argv.size();
    const auto name = next ? std::string_view(argv[i + 1]) : response_file_in(word);
    std::optional<std::string> text;
    if (depth < kDepth && !name.empty()) text = read(std::string(name));
    if (text && next) ++i;
    if (!text) {
      words.push_back(word);
      continue;
    }
    for (auto& inner : expand_response_files(split_response_file(*text), read, depth + 1))
      words.push_back(inner);
  }
  return words;
}

}  // namespace hallmark::engine
