#include "prove/internal/compile_words.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "base/path.h"
#include "engine/kinds.h"
#include "engine/outputs.h"
#include "prove/internal/shell_words.h"

namespace hallmark::prove {
namespace {

constexpr std::size_t kResponseBytes = 16u << 20;

bool is_assignment(std::string_view word) {
  const auto equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 && word.find('/') > equals && word.front() != '-';
}

/// Where the program stands that does the work.
std::size_t program_in(const std::vector<std::string>& words) {
  std::size_t at = 0;
  while (at < words.size()) {
    const auto name = path::base_name(words[at]);
    const auto kind = engine::kind_of_program(words[at]);
    if (name == "hallmark") {
      const auto dashes = std::find(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), "--");
      if (dashes == words.end()) return words.size();
      at = static_cast<std::size_t>(dashes - words.begin()) + 1;
    } else if (name == "env" || is_assignment(words[at]) || kind == engine::ProgramKind::peer_cache ||
               kind == engine::ProgramKind::peer_remote) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

bool names_source(std::string_view word) {
  constexpr std::array<std::string_view, 10> kEnds = {".c",   ".cc",  ".cp", ".cxx", ".cpp",
                                                      ".c++", ".CPP", ".C",  ".cu",  ".hip"};
  return !word.starts_with('-') &&
         std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return word.ends_with(end); });
}

/// With the words of its response files: Ninja removes these after the command.
std::vector<std::string> expanded(os::FileSystem& files, const BuildEdge& edge, const std::string& cwd,
                                  const std::vector<std::string>& argv) {
  return engine::expand_response_files(argv, [&](const std::string& name) -> std::optional<std::string> {
    const auto path = engine::absolute_path(cwd, name);
    if (!edge.response_file.empty() && path == edge.response_file) return edge.response_text;
    auto text = os::read_file(files, path, kResponseBytes);
    return text.has_value() ? std::optional(*std::move(text)) : std::nullopt;
  });
}

/// Calls visit(words from the program on, cwd, command) for each command of an edge.
void for_each_command(
    const BuildEdge& edge,
    const std::function<void(std::vector<std::string>, const std::string&, const ShellCommand&)>& visit) {
  auto folder = edge.cwd;
  std::size_t line = 0;
  for (const auto& command : shell_commands(edge.command)) {
    if (command.line != line) folder = edge.cwd;
    line = command.line;
    const auto& words = command.words;
    if (words.front() == "cd" && words.size() == 2) {
      folder = engine::absolute_path(folder, words[1]);
      continue;
    }
    const auto program = program_in(words);
    if (program < words.size())
      visit({words.begin() + static_cast<std::ptrdiff_t>(program), words.end()}, folder, command);
  }
}

/// Options by which compilers write more than the output and its dependency file, in places of their own.
bool writes_elsewhere(std::string_view word) {
  constexpr std::array<std::string_view, 8> kStarts = {"-MJ",   "--keep", "-keep",     "-fdump",
                                                       "-dump", "-Wa,-a", "-aux-info", "-frepo"};
  return word.find("save-temps") != std::string_view::npos ||
         std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return word.starts_with(start); });
}

/// Leads one option's value into the folder, wherever the words spell it.
class Leader {
 public:
  Leader(const BuildEdge& edge, Compile compile, std::string folder)
      : edge_(edge), compile_(std::move(compile)), folder_(std::move(folder)) {}

  std::optional<Compile> lead(std::string& why_not) {
    auto& argv = compile_.argv;
    for (std::size_t i = 1; i < argv.size(); ++i) {
      if (writes_elsewhere(argv[i])) {
        why_not = argv[i] + " writes into places of its own";
        return std::nullopt;
      }
      if (take(i, {"-o", "--output-file"}, "-o")) {
        if (!is_output(value_)) {
          why_not = "it writes to " + value_ + ", which is no output of the edge";
          return std::nullopt;
        }
        has_output_ = true;
        put(folder_ + "/" + std::string(path::base_name(value_)));
      } else if (take(i, {"-MF", "--dependency-output", "-dependency-file"}, "-MF")) {
        put(folder_ + "/dependencies.d");
      } else if (argv[i].starts_with("-Wp,-M") && argv[i].find(',', 4) != std::string::npos) {
        argv[i] = argv[i].substr(0, argv[i].find(',', 4) + 1) + folder_ + "/dependencies.d";
      }
    }
    if (!has_output_) {
      why_not = "it names no output with -o";
      return std::nullopt;
    }
    return std::move(compile_);
  }

 private:
  /// Whether argv[i] is the option, apart from its value, joined by `=`, or joined (`joined` only).
  bool take(std::size_t& i, std::initializer_list<std::string_view> names, std::string_view joined) {
    auto& argv = compile_.argv;
    for (const auto name : names) {
      if (argv[i] == name && i + 1 < argv.size()) {
        place_ = ++i;
        prefix_.clear();
      } else if (argv[i].size() > name.size() + 1 && argv[i].starts_with(name) &&
                 argv[i][name.size()] == '=') {
        place_ = i;
        prefix_ = std::string(name) + "=";
      } else if (name == joined && argv[i].size() > name.size() && argv[i].starts_with(name) &&
                 !argv[i].starts_with("-objtemp") && !argv[i].starts_with("-optf")) {
        place_ = i;
        prefix_ = joined;
      } else {
        continue;
      }
      value_ = argv[place_].substr(prefix_.size());
      return true;
    }
    return false;
  }

  void put(const std::string& value) { compile_.argv[place_] = prefix_ + value; }

  bool is_output(const std::string& spelled) const {
    const auto path = engine::absolute_path(compile_.cwd, spelled);
    return std::any_of(edge_.outputs.begin(), edge_.outputs.end(), [&](const std::string& output) {
      // The edge's paths have no links in their folders; those of the words may.
      return output == path || path::base_name(output) == path::base_name(path);
    });
  }

  const BuildEdge& edge_;
  Compile compile_;
  std::string folder_;
  std::size_t place_ = 0;
  std::string prefix_;
  std::string value_;
  bool has_output_ = false;
};

}  // namespace

std::vector<Compile> compiles_of(os::FileSystem& files, const BuildEdge& edge) {
  std::vector<Compile> found;
  for_each_command(edge, [&](std::vector<std::string> words, const std::string& cwd,
                             const ShellCommand& command) {
    if (!engine::reads_c_sources(words.front())) return;
    Compile compile{expanded(files, edge, cwd, words), {}, cwd, command.is_plain};
    bool is_value = false;
    for (std::size_t i = 1; i < compile.argv.size(); ++i) {
      const auto& word = compile.argv[i];
      if (!is_value && names_source(word)) compile.sources.push_back(word);
      is_value = word == "-o" || word == "-MF" || word == "-MT" || word == "-MQ" || word == "-include";
    }
    // A header that is compiled beforehand has the name of a header.
    const bool is_header = std::any_of(compile.argv.begin(), compile.argv.end(), [](const std::string& word) {
      return word.ends_with("c-header") || word.ends_with("c++-header");
    });
    if (compile.sources.empty() && is_header && !edge.inputs.empty())
      compile.sources.push_back(edge.inputs.front());
    if (!compile.sources.empty()) found.push_back(std::move(compile));
  });
  return found;
}

bool is_link(const BuildEdge& edge) {
  bool links = false;
  for_each_command(edge, [&](std::vector<std::string> words, const std::string&, const ShellCommand&) {
    const auto kind = engine::kind_of_program(words.front());
    if (kind != engine::ProgramKind::compiler && kind != engine::ProgramKind::linker) return;
    const auto only = [](const std::string& word) {
      return word == "-c" || word == "-S" || word == "-E" || word == "--compile" || word == "-dc" ||
             word == "-dw";
    };
    links = links || std::none_of(words.begin(), words.end(), only);
  });
  return links;
}

std::optional<Compile> compile_into(os::FileSystem& files, const BuildEdge& edge, const std::string& folder,
                                    std::string& why_not) {
  auto compiles = compiles_of(files, edge);
  if (compiles.size() != 1) {
    why_not = "it is not one compile";
    return std::nullopt;
  }
  if (!compiles.front().is_plain) {
    why_not = "the shell does more in it than to start the compiler";
    return std::nullopt;
  }
  return Leader(edge, std::move(compiles.front()), folder).lead(why_not);
}

}  // namespace hallmark::prove
