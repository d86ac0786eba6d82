#include "app/make_asker.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "app/captured_run.h"
#include "app/command.h"
#include "app/temporary_folder.h"
#include "base/path.h"
#include "base/shell.h"

namespace hallmark::app {
namespace {

constexpr std::size_t kTraceBytes = std::size_t{256} << 20;
constexpr std::string_view kMakefilesMark = "hallmark-makefiles:";
constexpr std::string_view kGoalMark = "hallmark-goal:";
// The last makefile that is read: it tells what was, and stops Make before it makes any of it again.
constexpr std::string_view kProbe =
    "$(info hallmark-makefiles:$(MAKEFILE_LIST))\n"
    "$(info hallmark-goal:$(.DEFAULT_GOAL))\n"
    "$(error this is all that hallmark asks)\n";

/// The arguments of one make, sorted.
struct Arguments {
  std::string folder;                  ///< absolute
  std::vector<std::string> makefiles;  ///< of -f
  std::vector<std::string> others;     ///< flags that change what is read, and variables
  std::vector<std::string> goals;
};

/// The value of an option that argv[i] spells apart or joined; moves `i` to it.
std::optional<std::string> value_of(const std::vector<std::string>& words, std::size_t& i,
                                    std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (words[i] == name && i + 1 < words.size()) return words[++i];
    const bool is_long = name.starts_with("--");
    if (is_long && words[i].starts_with(name) && words[i].size() > name.size() &&
        words[i][name.size()] == '=')
      return words[i].substr(name.size() + 1);
    if (!is_long && words[i].starts_with(name) && words[i].size() > name.size())
      return words[i].substr(name.size());
  }
  return std::nullopt;
}

Arguments sorted(const std::vector<std::string>& words, const std::string& cwd) {
  Arguments found;
  found.folder = cwd;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (const auto folder = value_of(words, i, {"-C", "--directory"})) {
      found.folder = path::join(found.folder, *folder);
    } else if (const auto makefile = value_of(words, i, {"-f", "--file", "--makefile"})) {
      found.makefiles.push_back(*makefile);
    } else if (const auto searched = value_of(words, i, {"-I", "--include-dir"})) {
      found.others.push_back("-I" + *searched);
    } else if (word == "-r" || word == "-R" || word == "-rR" || word == "-e" ||
               word.find('=') != std::string::npos) {
      if (!word.starts_with("--")) found.others.push_back(word);
    } else if (!word.starts_with('-')) {
      found.goals.push_back(word);
    }
  }
  return found;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// What stands behind a mark at the beginning of a line, in words.
std::vector<std::string> told_behind(std::string_view text, std::string_view mark) {
  auto at = text.starts_with(mark) ? 0 : text.find("\n" + std::string(mark));
  if (at == std::string_view::npos) return {};
  at = text.find(mark, at) + mark.size();
  return words_of(text.substr(at, std::min(text.find('\n', at), text.size()) - at));
}

}  // namespace

Result<MakeAnswer> ask_make(os::FileSystem& files, const model::Environment& environment,
                            const MakeQuestion& question) {
  auto arguments = sorted(question.arguments, question.cwd);
  if (arguments.makefiles.empty()) {
    for (const char* name : {"GNUmakefile", "makefile", "Makefile"}) {
      const auto stat = files.stat(path::join(arguments.folder, name));
      if (arguments.makefiles.empty() && stat.has_value() && *stat) arguments.makefiles.emplace_back(name);
    }
  }
  std::vector<std::string> start = {"make", "--no-print-directory"};
  for (const auto& makefile : arguments.makefiles) start.insert(start.end(), {"-f", makefile});
  auto end = arguments.others;
  end.push_back("MAKE=" + shell_quoted(question.program) + " " + kAskMakeVerb + " --");

  HALLMARK_TRY(const auto folder, TemporaryFolder::make(files, environment, "make"));
  const auto probe = path::join(folder.path(), "probe.mk");
  HALLMARK_CHECK(os::write_file_atomically(files, probe, kProbe, "probe", false));
  auto list = start;
  list.insert(list.end(), {"-n", "-f", probe});
  list.insert(list.end(), end.begin(), end.end());
  HALLMARK_TRY(const auto listed,
               run_captured(list, environment, arguments.folder, kTraceBytes, Complaints::dropped));

  auto goals = told_behind(listed.out, kMakefilesMark);
  std::erase(goals, probe);
  const auto wanted = arguments.goals.empty() ? told_behind(listed.out, kGoalMark) : arguments.goals;
  if (wanted.empty()) return MakeAnswer{{}, false};
  goals.insert(goals.end(), wanted.begin(), wanted.end());
  auto ask = start;
  ask.insert(ask.end(), {"-n", "-B", "-k", "--trace"});
  ask.insert(ask.end(), end.begin(), end.end());
  ask.insert(ask.end(), goals.begin(), goals.end());
  HALLMARK_TRY(auto told, run_captured(ask, environment, arguments.folder, kTraceBytes));
  MakeAnswer answer;
  answer.trace = "make: Entering directory '" + arguments.folder + "'\n" + std::move(told.out) +
                 "make: Leaving directory '" + arguments.folder + "'\n";
  answer.is_whole = told.exit_code == 0;
  return answer;
}

}  // namespace hallmark::app
