#include "prove/internal/include_reach.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/path.h"
#include "engine/outputs.h"
#include "prove/internal/compile_words.h"

namespace hallmark::prove {
namespace {

constexpr std::size_t kScannedBytes = 16u
                                      << 20;    ///< of one source or header; of larger ones nothing is known
constexpr std::size_t kReachedFiles = 100'000;  ///< of one compile

enum class Language : std::uint8_t { unknown, c, cxx, cuda, hip };

/// As drivers take it: g++ and clang++ compile .c as C++, hipcc all as HIP.
Language language_of(std::string_view source, std::string_view driver) {
  const auto end = source.substr(std::min(source.rfind('.') + 1, source.size()));
  if (driver.find("hipcc") != std::string_view::npos) return Language::hip;
  if (end == "cu") return Language::cuda;
  if (end == "hip") return Language::hip;
  if (end == "c") return driver.find("++") != std::string_view::npos ? Language::cxx : Language::c;
  return Language::cxx;
}

/// Of -x.
Language language_named(std::string_view name) {
  if (name == "cu" || name == "cuda") return Language::cuda;
  if (name == "hip") return Language::hip;
  if (name == "c" || name == "c-header") return Language::c;
  if (name == "c++" || name == "c++-header") return Language::cxx;
  return Language::unknown;
}

/// Only the device's code, or only the host's.
bool is_one_pass(std::string_view word) {
  for (const std::string_view name :
       {"-ptx", "--ptx", "-cubin", "--cubin", "-fatbin", "--fatbin", "--genco", "--cuda-device-only",
        "--cuda-host-only", "--offload-device-only", "--offload-host-only", "-optix-ir", "--optix-ir"}) {
    if (word == name) return true;
  }
  return false;
}

enum class Defined : std::uint8_t { no, yes, both, unknown };

}  // namespace

/// What the words of one compile say.
struct IncludeReach::Unit {
  std::vector<std::string> quoted;  ///< folders for "x" alone
  std::vector<std::string> angled;  ///< folders for both, in the order of the search
  std::vector<std::string> forced;  ///< as spelled, as if included first
  std::vector<std::string> sources;
  std::string cwd;
  std::map<std::string, bool, std::less<>> macros;  ///< -D and -U
  Language language = Language::unknown;
  bool is_nvcc = false;
  bool is_gcc = false;
  bool has_one_pass = false;

  static Unit of(const Compile& compile);

  /// Whether a macro is defined when the compile begins. Device code is compiled beside host code: what tells
  /// them apart is both. What is not sure is unknown.
  Defined defined(std::string_view macro) const {
    const auto yes_if = [](bool yes) { return yes ? Defined::yes : Defined::no; };
    if (const auto found = macros.find(macro); found != macros.end()) return yes_if(found->second);
    if (language == Language::unknown) return Defined::unknown;
    const bool device = language == Language::cuda || language == Language::hip;
    if (macro == "__cplusplus") return yes_if(language != Language::c);
    if (macro == "__CUDA_ARCH__" || macro == "__HIP_DEVICE_COMPILE__") {
      if (!device) return Defined::no;
      if (has_one_pass || (macro == "__CUDA_ARCH__") != (language == Language::cuda)) return Defined::unknown;
      return Defined::both;
    }
    if (macro == "__CUDACC__")
      return language == Language::cuda ? Defined::yes : is_gcc ? Defined::no : Defined::unknown;
    if (macro == "__NVCC__") return is_nvcc ? Defined::yes : is_gcc ? Defined::no : Defined::unknown;
    if (macro == "__HIPCC__" || macro == "__HIP__")
      return language == Language::hip ? Defined::yes : is_gcc || is_nvcc ? Defined::no : Defined::unknown;
    return Defined::unknown;
  }
};

IncludeReach::Unit IncludeReach::Unit::of(const Compile& compile) {
  struct Option {
    std::string_view name;
    std::vector<std::string>* folders;
  };
  Unit unit;
  unit.cwd = compile.cwd;
  const auto& argv = compile.argv;
  const auto driver = path::base_name(argv.front());
  unit.is_nvcc = driver.find("nvcc") != std::string_view::npos;
  unit.is_gcc = driver.find("gcc") != std::string_view::npos || driver.find("g++") != std::string_view::npos;
  std::vector<std::string> searched;  // -I
  std::vector<std::string> system;
  std::vector<std::string> after;
  const std::array options = {Option{"-isystem", &system},
                              Option{"--system-include", &system},
                              Option{"-iquote", &unit.quoted},
                              Option{"-idirafter", &after},
                              Option{"--include-path", &searched},
                              Option{"-include", &unit.forced},
                              Option{"-imacros", &unit.forced},
                              Option{"--pre-include", &unit.forced},
                              Option{"-I", &searched}};
  const auto define = [&](std::string_view text, bool is_defined) {
    unit.macros.insert_or_assign(std::string(text.substr(0, text.find_first_of("=("))), is_defined);
  };
  for (const auto& source : compile.sources) {
    unit.sources.push_back(engine::absolute_path(compile.cwd, source));
    unit.language = language_of(source, driver);
  }
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string_view word = argv[i];
    const std::string_view next = i + 1 < argv.size() ? std::string_view(argv[i + 1]) : std::string_view();
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Option& known) { return word.starts_with(known.name); });
    unit.has_one_pass = unit.has_one_pass || is_one_pass(word);
    if (option != options.end()) {
      auto value = word.substr(option->name.size());
      if (value.empty()) {
        value = next;
        ++i;
      } else if (value.front() == '=') {
        value.remove_prefix(1);
      }
      if (option->folders == &unit.forced) {
        unit.forced.emplace_back(value);
        continue;
      }
      // nvcc takes lists.
      while (!value.empty()) {
        const auto end = unit.is_nvcc ? std::min(value.find(','), value.size()) : value.size();
        option->folders->push_back(engine::absolute_path(compile.cwd, std::string(value.substr(0, end))));
        value.remove_prefix(std::min(end + 1, value.size()));
      }
    } else if (word.starts_with("-D") || word.starts_with("-U")) {
      const bool apart = word.size() == 2;
      define(apart ? next : word.substr(2), word[1] == 'D');
      if (apart) ++i;
    } else if (word.starts_with("-x") || word == "--x") {
      const bool apart = word == "-x" || word == "--x";
      auto name = apart ? next : word.substr(2);
      if (!apart && name.starts_with('=')) name.remove_prefix(1);
      unit.language = language_named(name);
      if (apart) ++i;
    }
  }
  // A folder that is also one of -isystem is searched only there (gcc, "Options for Directory Search").
  std::erase_if(searched, [&](const std::string& folder) {
    return std::find(system.begin(), system.end(), folder) != system.end();
  });
  for (const auto* folders : {&searched, &system, &after})
    unit.angled.insert(unit.angled.end(), folders->begin(), folders->end());
  return unit;
}

/// Follows the lines of one compile: first those that are surely read, then the others.
class IncludeReach::Walk {
 public:
  Walk(IncludeReach& reach, const Unit& unit) : reach_(reach), unit_(unit) {}

  /// What a file that is read defines or undefines itself is not sure: then the walk begins again.
  std::vector<ReachedFile> go() {
    for (;;) {
      auto found = once();
      const auto sure = unsure_.size();
      for (const auto& macro : relied_on_) {
        if (changed_.contains(macro)) unsure_.insert(macro);
      }
      if (unsure_.size() == sure) return found;
      found_.clear();
      folders_.clear();
      known_.clear();
    }
  }

 private:
  std::vector<ReachedFile> once() {
    for (const bool certain : {true, false}) {
      certain_ = certain;
      waiting_.clear();
      if (certain) {
        for (const auto& source : unit_.sources) arrive({source, {}, 0, true}, kOwnFolder);
        for (const auto& header : unit_.forced) take_forced(header);
      } else {
        for (std::size_t i = 0; i < found_.size(); ++i) waiting_.push_back(i);
      }
      for (std::size_t i = 0; i < waiting_.size() && found_.size() < kReachedFiles; ++i) follow(waiting_[i]);
    }
    std::erase_if(found_, [&](const ReachedFile& file) {
      return std::find(unit_.sources.begin(), unit_.sources.end(), file.path) != unit_.sources.end() ||
             (file.includer.empty() && !reach_.is_file(file.path));
    });
    return std::exchange(found_, {});
  }

  static constexpr std::size_t kOwnFolder = static_cast<std::size_t>(-1);

  void arrive(ReachedFile file, std::size_t folder) {
    if (!known_.emplace(file.path, found_.size()).second) return;
    waiting_.push_back(found_.size());
    found_.push_back(std::move(file));
    folders_.push_back(folder);
  }

  void follow(std::size_t index) {
    const auto path = found_[index].path;
    const auto& includes = reach_.includes_of(path);
    changed_.insert(includes.macros.begin(), includes.macros.end());
    for (const auto& include : includes.lines) {
      if (include.form == inspect::Include::Form::computed) continue;
      const auto read = is_read(include);
      if (read == Defined::no || (certain_ && read != Defined::yes)) continue;
      take(index, path, include);
    }
  }

  /// Whether its conditions hold.
  Defined is_read(const inspect::Include& include) {
    auto read = include.undecided ? Defined::unknown : Defined::yes;
    for (const auto& condition : include.conditions) {
      relied_on_.insert(condition.macro);
      const auto defined =
          unsure_.contains(condition.macro) ? Defined::unknown : unit_.defined(condition.macro);
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
      auto file = reach_.file_at(folder, include.spelled);
      if (file.path.empty()) return false;
      arrive({std::move(file.path), includer, include.line, certain_, std::move(file.named)}, number);
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

  /// From the working folder, then as a quoted name.
  void take_forced(const std::string& spelled) {
    std::vector<std::string> folders = {unit_.cwd};
    folders.insert(folders.end(), unit_.quoted.begin(), unit_.quoted.end());
    folders.insert(folders.end(), unit_.angled.begin(), unit_.angled.end());
    for (const auto& folder : folders) {
      auto file = reach_.file_at(folder, spelled);
      if (file.path.empty()) continue;
      arrive({std::move(file.path), {}, 0, true, std::move(file.named)}, kOwnFolder);
      return;
    }
  }

  IncludeReach& reach_;
  const Unit& unit_;
  bool certain_ = true;
  std::vector<ReachedFile> found_;
  std::vector<std::size_t> folders_;  ///< parallel: where the search found it
  std::unordered_map<std::string, std::size_t> known_;
  std::vector<std::size_t> waiting_;
  std::set<std::string> relied_on_;  ///< macros
  std::set<std::string> changed_;    ///< by files
  std::set<std::string> unsure_;
};

const inspect::Includes& IncludeReach::includes_of(const std::string& path) {
  const auto [known, is_new] = includes_.try_emplace(path);
  if (is_new) {
    if (const auto text = os::read_file(files_, path, kScannedBytes); text.has_value())
      known->second = inspect::includes_in(*text);
  }
  return known->second;
}

/// A link in a folder on the way is resolved before `..` behind it, as the kernel does.
IncludeReach::Found IncludeReach::file_at(const std::string& folder, const std::string& spelled) {
  auto whole = path::join(folder, spelled);
  const std::string parent(path::parent(whole));
  const auto [real, is_new] = real_folders_.try_emplace(parent);
  if (is_new) real->second = real_.of(parent).value_or(std::string());
  if (real->second.empty()) return {};
  auto path = path::join(real->second, path::base_name(whole));
  if (!is_file(path)) return {};
  return {std::move(path), std::move(whole)};
}

bool IncludeReach::is_file(const std::string& path) {
  const auto [known, is_new] = is_file_.try_emplace(path);
  if (is_new) {
    const auto stat = files_.stat(path);
    known->second = stat.has_value() && *stat && (*stat)->kind == NodeKind::file;
  }
  return known->second;
}

std::vector<ReachedFile> IncludeReach::of(const BuildEdge& edge) {
  std::vector<ReachedFile> all;
  for (const auto& compile : compiles_of(files_, edge)) {
    const auto unit = Unit::of(compile);
    auto found = Walk(*this, unit).go();
    all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  return all;
}

}  // namespace hallmark::prove
