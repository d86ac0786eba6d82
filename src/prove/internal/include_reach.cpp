#include "prove/internal/include_reach.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "engine/kinds.h"
#include "engine/outputs.h"
#include "prove/internal/shell_words.h"

namespace hallmark::prove {
namespace {

constexpr std::size_t kScannedBytes = 16u
                                      << 20;    ///< of one source or header; of larger ones nothing is known
constexpr std::size_t kReachedFiles = 100'000;  ///< of one compile
constexpr std::size_t kResponseBytes = 16u << 20;

enum class Language : std::uint8_t { none, c, cxx, cuda, hip };

Language language_of(std::string_view source) {
  const auto dot = source.rfind('.');
  if (dot == std::string_view::npos) return Language::none;
  const auto end = source.substr(dot + 1);
  if (end == "c") return Language::c;
  if (end == "cu") return Language::cuda;
  if (end == "hip") return Language::hip;
  for (const std::string_view name : {"cc", "cp", "cxx", "cpp", "c++", "C", "CPP"}) {
    if (end == name) return Language::cxx;
  }
  return Language::none;
}

enum class Defined : std::uint8_t { no, yes, both, unknown };

}  // namespace

/// What the words of one compile say.
struct IncludeReach::Unit {
  std::vector<std::string> quoted;  ///< folders for "x" alone
  std::vector<std::string> angled;  ///< folders for both, in the order of the search
  std::vector<std::string> forced;  ///< as if included first
  std::vector<std::string> sources;
  std::map<std::string, bool, std::less<>> macros;  ///< -D and -U
  Language language = Language::none;

  static Unit of(const std::vector<std::string>& argv, const std::string& cwd);

  /// Whether a macro is defined when the compile begins. Device code is compiled beside host code: what tells
  /// them apart is both.
  Defined defined(std::string_view macro) const {
    if (const auto found = macros.find(macro); found != macros.end())
      return found->second ? Defined::yes : Defined::no;
    const bool device = language == Language::cuda || language == Language::hip;
    if (macro == "__cplusplus") return language == Language::c ? Defined::no : Defined::yes;
    if (macro == "__CUDA_ARCH__" || macro == "__HIP_DEVICE_COMPILE__")
      return device && (macro == "__CUDA_ARCH__") == (language == Language::cuda) ? Defined::both
                                                                                  : Defined::no;
    if (macro == "__CUDACC__" || macro == "__NVCC__")
      return language == Language::cuda ? Defined::yes : device ? Defined::unknown : Defined::no;
    if (macro == "__HIPCC__" || macro == "__HIP__")
      return language == Language::hip ? Defined::yes : Defined::no;
    return Defined::unknown;
  }
};

IncludeReach::Unit IncludeReach::Unit::of(const std::vector<std::string>& argv, const std::string& cwd) {
  struct Option {
    std::string_view name;
    std::vector<std::string>* folders;
  };
  Unit unit;
  std::vector<std::string> system;
  std::vector<std::string> after;
  const std::array options = {Option{"-isystem", &system},
                              Option{"--system-include", &system},
                              Option{"-iquote", &unit.quoted},
                              Option{"-idirafter", &after},
                              Option{"--include-path", &unit.angled},
                              Option{"-include", &unit.forced},
                              Option{"--pre-include", &unit.forced},
                              Option{"-I", &unit.angled}};
  const auto define = [&](std::string_view text, bool is_defined) {
    unit.macros.insert_or_assign(std::string(text.substr(0, text.find_first_of("=("))), is_defined);
  };
  bool named_language = false;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string_view word = argv[i];
    const std::string_view next = i + 1 < argv.size() ? std::string_view(argv[i + 1]) : std::string_view();
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Option& known) { return word.starts_with(known.name); });
    if (option != options.end()) {
      auto value = word.substr(option->name.size());
      if (value.empty()) {
        value = next;
        ++i;
      } else if (value.front() == '=') {
        value.remove_prefix(1);
      }
      option->folders->push_back(engine::absolute_path(cwd, std::string(value)));
    } else if (word.starts_with("-D") || word.starts_with("-U")) {
      const bool apart = word.size() == 2;
      define(apart ? next : word.substr(2), word[1] == 'D');
      if (apart) ++i;
    } else if (word == "-x" || word == "--x") {
      unit.language = next == "cu" || next == "cuda" ? Language::cuda
                      : next == "hip"                ? Language::hip
                      : next == "c"                  ? Language::c
                                                     : Language::cxx;
      named_language = true;
      ++i;
    } else if (word == "-o" || word == "-MF" || word == "-MT" || word == "-MQ") {
      ++i;
    } else if (!word.starts_with('-') && language_of(word) != Language::none) {
      unit.sources.push_back(engine::absolute_path(cwd, std::string(word)));
      if (!named_language) unit.language = language_of(word);
    }
  }
  unit.angled.insert(unit.angled.end(), system.begin(), system.end());
  unit.angled.insert(unit.angled.end(), after.begin(), after.end());
  return unit;
}

/// Follows the lines of one compile: first those that are surely read, then the others.
class IncludeReach::Walk {
 public:
  Walk(IncludeReach& reach, const Unit& unit) : reach_(reach), unit_(unit) {}

  std::vector<ReachedFile> go() {
    for (const bool certain : {true, false}) {
      certain_ = certain;
      waiting_.clear();
      if (certain) {
        for (const auto& source : unit_.sources) arrive({source, {}, 0, true}, kOwnFolder);
        for (const auto& header : unit_.forced) arrive({header, {}, 0, true}, kOwnFolder);
      } else {
        for (std::size_t i = 0; i < found_.size(); ++i) waiting_.push_back(i);
      }
      for (std::size_t i = 0; i < waiting_.size() && found_.size() < kReachedFiles; ++i) follow(waiting_[i]);
    }
    std::erase_if(found_, [&](const ReachedFile& file) {
      return std::find(unit_.sources.begin(), unit_.sources.end(), file.path) != unit_.sources.end() ||
             (file.includer.empty() && !reach_.is_file(file.path));
    });
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kOwnFolder = static_cast<std::size_t>(-1);

  void arrive(ReachedFile file, std::size_t folder) {
    if (!known_.emplace(file.path, found_.size()).second) return;
    waiting_.push_back(found_.size());
    found_.push_back(std::move(file));
    folders_.push_back(folder);
  }

  void follow(std::size_t index) {
    const auto path = found_[index].path;
    for (const auto& include : reach_.includes_of(path)) {
      if (include.form == inspect::Include::Form::computed) continue;
      const auto read = is_read(include);
      if (read == Defined::no || (certain_ && read != Defined::yes)) continue;
      take(index, path, include);
    }
  }

  /// Whether its conditions hold.
  Defined is_read(const inspect::Include& include) const {
    auto read = include.undecided ? Defined::unknown : Defined::yes;
    for (const auto& condition : include.conditions) {
      const auto defined = unit_.defined(condition.macro);
      if (defined == Defined::both) continue;
      if (defined == Defined::unknown) {
        read = Defined::unknown;
      } else if ((defined == Defined::yes) != condition.defined) {
        return Defined::no;
      }
    }
    return read;
  }

  void take(std::size_t index, const std::string& includer, const inspect::Include& include) {
    const auto try_in = [&](const std::string& folder, std::size_t number) {
      auto path = engine::absolute_path(folder, include.spelled);
      if (!reach_.is_file(path)) return false;
      arrive({std::move(path), includer, include.line, certain_}, number);
      return true;
    };
    const auto found_in = folders_[index];
    const bool next = include.next && found_in != kOwnFolder;
    if (!next && include.form == inspect::Include::Form::quoted) {
      if (try_in(std::string(path::parent(includer)), found_in)) return;
      for (const auto& folder : unit_.quoted) {
        if (try_in(folder, kOwnFolder)) return;
      }
    }
    for (std::size_t i = next ? found_in + 1 : 0; i < unit_.angled.size(); ++i) {
      if (try_in(unit_.angled[i], i)) return;
    }
  }

  IncludeReach& reach_;
  const Unit& unit_;
  bool certain_ = true;
  std::vector<ReachedFile> found_;
  std::vector<std::size_t> folders_;  ///< parallel: where the search found it
  std::unordered_map<std::string, std::size_t> known_;
  std::vector<std::size_t> waiting_;
};

const std::vector<inspect::Include>& IncludeReach::includes_of(const std::string& path) {
  const auto [known, is_new] = includes_.try_emplace(path);
  if (is_new) {
    if (const auto text = os::read_file(files_, path, kScannedBytes); text.has_value())
      known->second = inspect::includes_in(*text);
  }
  return known->second;
}

bool IncludeReach::is_file(const std::string& path) {
  const auto [known, is_new] = is_file_.try_emplace(path);
  if (is_new) {
    const auto stat = files_.stat(path);
    known->second = stat.has_value() && *stat && (*stat)->kind == NodeKind::file;
  }
  return known->second;
}

std::vector<ReachedFile> IncludeReach::of(std::string_view command_line, const std::string& cwd) {
  std::vector<ReachedFile> all;
  auto folder = cwd;
  for (auto argv : shell_commands(command_line)) {
    if (argv.front() == "cd" && argv.size() == 2) {
      folder = engine::absolute_path(folder, argv[1]);
      continue;
    }
    // Behind launchers: ccache, hallmark run --.
    const auto compiler = std::find_if(argv.begin(), argv.end(),
                                       [](const std::string& word) { return engine::reads_c_sources(word); });
    if (compiler == argv.end()) continue;
    argv.erase(argv.begin(), compiler);
    const auto words =
        engine::expand_response_files(argv, [&](const std::string& name) -> std::optional<std::string> {
          auto text = os::read_file(files_, path::join(folder, name), kResponseBytes);
          return text.has_value() ? std::optional(*std::move(text)) : std::nullopt;
        });
    const auto unit = Unit::of(words, folder);
    if (unit.sources.empty()) continue;
    auto found = Walk(*this, unit).go();
    all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  return all;
}

}  // namespace hallmark::prove
