#include "engine/environment.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "engine/kinds.h"
#include "engine/outputs.h"
#include "engine/program_search.h"

namespace hallmark::engine {
namespace {

// Sorted by topic. A name is here only if no tool whose result is worth keeping reads it, or if it changes
// only what is shown while it works.
constexpr IgnoredVariable kIgnored[] = {
    {"_", "the shell's last command"},
    {"SHLVL", "depth of shells"},
    {"SHELL", "the login shell; build tools use /bin/sh"},
    {"TERM", "terminal"},
    {"TERMCAP", "terminal"},
    {"TERMINFO", "terminal"},
    {"TERM_PROGRAM*", "terminal"},
    {"TERM_SESSION_ID", "terminal"},
    {"GPG_TTY", "terminal, for GnuPG"},
    {"COLORTERM", "terminal"},
    {"COLORFGBG", "terminal"},
    {"COLUMNS", "terminal size"},
    {"LINES", "terminal size"},
    {"LS_COLORS", "colours of ls"},
    {"DIRCOLORS", "colours of ls"},
    {"GREP_COLOR", "colours of grep"},
    {"GREP_COLORS", "colours of grep"},
    {"LESS", "pager"},
    {"LESSOPEN", "pager"},
    {"LESSCLOSE", "pager"},
    {"PAGER", "pager"},
    {"MANPAGER", "pager"},
    {"EDITOR", "editor"},
    {"VISUAL", "editor"},
    {"VTE_VERSION", "terminal"},
    {"WINDOWID", "terminal"},
    {"KONSOLE_*", "terminal"},
    {"KITTY_*", "terminal"},
    {"ITERM_*", "terminal"},
    {"WEZTERM_*", "terminal"},
    {"ALACRITTY_*", "terminal"},
    {"GNOME_TERMINAL_*", "terminal"},
    {"TMUX", "terminal multiplexer"},
    {"TMUX_PANE", "terminal multiplexer"},
    {"STY", "terminal multiplexer"},
    {"WINDOW", "terminal multiplexer"},
    {"VSCODE_*", "editor session"},
    {"PS1", "prompt"},
    {"PS2", "prompt"},
    {"PROMPT_COMMAND", "prompt"},
    {"HISTFILE", "shell history"},
    {"HISTSIZE", "shell history"},
    {"HISTFILESIZE", "shell history"},
    {"HISTCONTROL", "shell history"},
    {"HISTTIMEFORMAT", "shell history"},
    {"DISPLAY", "desktop session"},
    {"WAYLAND_DISPLAY", "desktop session"},
    {"XAUTHORITY", "desktop session"},
    {"DESKTOP_*", "desktop session"},
    {"GDMSESSION", "desktop session"},
    {"GNOME_*", "desktop session"},
    {"GTK_MODULES", "desktop session"},
    {"QT_ACCESSIBILITY", "desktop session"},
    {"SESSION_MANAGER", "desktop session"},
    {"DBUS_*", "desktop session"},
    {"XDG_SESSION_*", "desktop session"},
    {"XDG_RUNTIME_DIR", "desktop session"},
    {"XDG_SEAT*", "desktop session"},
    {"XDG_VTNR", "desktop session"},
    {"XDG_CURRENT_DESKTOP", "desktop session"},
    {"XDG_MENU_PREFIX", "desktop session"},
    {"SSH_*", "remote session"},
    {"SUDO_*", "session"},
    {"MAIL", "session"},
    {"INVOCATION_ID", "service manager"},
    {"JOURNAL_STREAM", "service manager"},
    {"SYSTEMD_*", "service manager"},
    {"NOTIFY_SOCKET", "service manager"},
    {"WATCHDOG_*", "service manager"},
    {"MFLAGS", "flags of make, with the jobserver (MAKEFLAGS counts without it)"},
    {"MAKELEVEL", "depth of makes"},
    {"MAKE_TERMOUT", "terminal of make"},
    {"MAKE_TERMERR", "terminal of make"},
    {"NINJA_STATUS", "progress line of ninja"},
    {"HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET", "a benchmark's padding, another one each time"},
    {"CMAKE_BUILD_PARALLEL_LEVEL", "jobs"},
    {"CMAKE_COLOR_DIAGNOSTICS", "colours of generated build files"},
    {"MAX_JOBS", "jobs"},
    {"PIP_BUILD_TRACKER", "pip's bookkeeping of one build"},
    {"PIP_REQ_TRACKER", "pip's bookkeeping of one build"},
    {"HALLMARK_*", "hallmark itself"},
    {"CCACHE_*", "ccache is bypassed (rule 9)"},
};

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

constexpr std::array<std::string_view, 8> kBound = {"PATH",   "HOME", "TMPDIR",  "PWD",
                                                    "OLDPWD", "USER", "LOGNAME", "VIRTUAL_ENV"};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The folder "…/pip-build-env-xyz" that pip made for an isolated build; empty if this is none.
std::string isolated_prefix(const model::Environment& environment) {
  for (const std::string_view name : {"PYTHONPATH", "PATH"}) {
    const auto found = environment.find(std::string(name));
    if (found == environment.end()) continue;
    for (const auto& folder : split(found->second, ':')) {
      const auto mark = folder.find("/pip-build-env-");
      if (!folder.starts_with('/') || mark == std::string::npos) continue;
      return folder.substr(0, folder.find('/', mark + 1));
    }
  }
  return {};
}

/// The first folder below a temporary folder on the way to `output`: its name was made up for one run.
std::string temporary_folder_of(const std::string& output, const std::string* temporary) {
  for (const std::string& base :
       {temporary != nullptr ? *temporary : std::string("/tmp"), std::string("/tmp")}) {
    if (!path::is_within(output, base) || base == "/" || output.size() <= base.size() + 1) continue;
    const auto end = output.find('/', base.size() + 1);
    if (end != std::string::npos) return output.substr(0, end);
  }
  return {};
}

/// A name of fewer bytes stands in any text; it is not searched for.
constexpr std::size_t kSearchedNameBytes = 3;
/// A name of fewer bytes ("root") is often a part of another word; a longer one hardly by chance.
constexpr std::size_t kLongNameBytes = 6;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether `c` is no part of a file's name, as far as a path in a text goes on.
bool ends_name(char c) {
  return !is_letter(c) && !is_digit(c) && std::string_view("._-+/").find(c) == std::string_view::npos;
}

/// Tools write other bytes in their own ways: "co\ 1" in dependency files, "\303" in assembly, quotes of
/// shells. Only the plain spelling is ever searched for.
bool may_be_escaped(std::string_view value) {
  return !std::all_of(value.begin(), value.end(), [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("_./+@=~-").find(c) != std::string_view::npos;
  });
}

/// Of a short word the neighbours must not be letters. A digit, a dash or "_" may well have been put there,
/// and the letter of "\n" ends what is before it.
bool has_word(std::string_view bytes, std::string_view word) {
  for (auto at = bytes.find(word); at != std::string_view::npos; at = bytes.find(word, at + 1)) {
    if (word.size() >= kLongNameBytes) return true;
    const auto end = at + word.size();
    const bool goes_on_before = at > 0 && is_letter(bytes[at - 1]) && !(at > 1 && bytes[at - 2] == '\\');
    const bool goes_on_behind = end < bytes.size() && is_letter(bytes[end]);
    if (!goes_on_before && !goes_on_behind) return true;
  }
  return false;
}

const std::string* find(const model::Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? nullptr : &found->second;
}

}  // namespace

std::span<const IgnoredVariable> ignored_variables() {
  return kIgnored;
}

std::vector<std::string> temporary_folders(const model::Environment& environment) {
  std::vector<std::string> folders = {"/tmp", "/var/tmp", "/dev/shm", "/run"};
  if (const auto found = environment.find("TMPDIR");
      found != environment.end() && found->second.size() > 1 && found->second.starts_with('/'))
    folders.push_back(absolute_path("/", found->second));
  return folders;
}

bool is_ignored_variable(std::string_view name, std::span<const std::string> more) {
  return std::any_of(std::begin(kIgnored), std::end(kIgnored),
                     [&](const IgnoredVariable& known) { return matches(name, known.pattern); }) ||
         std::any_of(more.begin(), more.end(),
                     [&](const std::string& pattern) { return matches(name, pattern); });
}

PwdKind pwd_kind(os::FileSystem& files, const model::Command& command) {
  const auto* value = find(command.environment, "PWD");
  if (value == nullptr) return PwdKind::unset;
  if (*value == command.cwd) return PwdKind::folder_itself;
  if (!value->starts_with('/')) return PwdKind::another_folder;
  const auto named = files.stat(*value);
  const auto folder = files.stat(command.cwd);
  // What cannot be told counts as a name: that makes a key of its own.
  if (!named.has_value() || !folder.has_value() || !*folder) return PwdKind::other_name;
  const bool same = *named && (*named)->device == (*folder)->device && (*named)->inode == (*folder)->inode;
  return same ? PwdKind::other_name : PwdKind::another_folder;
}

bool is_bound_variable(std::string_view name) {
  return std::find(kBound.begin(), kBound.end(), name) != kBound.end();
}

Bindings::Bindings(const model::Command& command, const std::string& root, const std::string& build_folder,
                   const std::string& output) {
  const auto& environment = command.environment;
  add_path("R", root);
  add_path("B", build_folder);
  for (const char* name : {"HOME", "TMPDIR", "VIRTUAL_ENV"}) {
    if (const auto* value = find(environment, name)) add_path(name, *value);
  }
  add_path("ISOLATED", isolated_prefix(environment));
  if (const auto* value = find(environment, "PWD"); value != nullptr && *value != command.cwd)
    add_path("PWD", *value);
  const std::string absolute = path::join(command.cwd, output);
  if (!output.empty() && !path::is_within(absolute, root) &&
      (build_folder.empty() || !path::is_within(absolute, build_folder))) {
    add_path("OUT", temporary_folder_of(absolute, find(environment, "TMPDIR")));
  }

  add_search_path(find(environment, "PATH"));
  if (shows_any_variable(command)) {
    for (const char* name : {"USER", "LOGNAME"}) {
      if (const auto* value = find(environment, name)) add_loose(name, *value, Sight::word);
    }
    if (const auto* value = find(environment, "OLDPWD")) add_loose("OLDPWD", *value, Sight::place);
    const auto name = path::base_name(root);
    add_loose("R_NAME", name, name.size() < kSearchedNameBytes ? Sight::always : Sight::word);
  }
}

void Bindings::add_search_path(const std::string* search_path) {
  path_is_text_ = search_path == nullptr || search_path->empty();
  if (search_path != nullptr) add_loose("PATH", *search_path, Sight::anywhere);
  if (path_is_text_) return;
  search_folders_ = engine::search_folders(*search_path);
  path_is_text_ = search_folders_.size() != split(*search_path, ':').size();
}

Bindings Bindings::of_places(const model::Places& places, const model::Environment& environment) {
  Bindings bindings;
  for (const auto& [name, value] : places) {
    if (name == "PATH") {
      bindings.add_search_path(&value);
    } else {
      bindings.add_path(name, value);
    }
  }
  for (const char* name : {"USER", "LOGNAME", "OLDPWD"}) {
    if (const auto* value = find(environment, name)) bindings.add_loose(name, *value, Sight::word);
  }
  if (const auto* root = bindings.tokens_.value_of("R"))
    bindings.add_loose("R_NAME", path::base_name(*root), Sight::word);
  return bindings;
}

model::Places Bindings::places() const {
  model::Places places = paths_;
  if (const auto* search_path = value_of("PATH")) places.emplace_back("PATH", *search_path);
  return places;
}

void Bindings::add_path(std::string name, const std::string& raw_value) {
  const std::string value(path::without_trailing_slashes(raw_value));
  if (!value.starts_with('/') || value == "/") {
    if (!raw_value.empty() && raw_value != "/") relations_.push_back(name + "=" + raw_value);
    return;
  }
  // A value that lies inside another one's folder could be reached by either name. Its place is then part of
  // the key. (The checkout below the home folder is the exception: that one is reached by its own name only.)
  for (const auto& [other, folder] : paths_) {
    if (path::is_within(value, folder) && !(name == "B" && value == folder)) {
      const bool temporary_place = name == "ISOLATED" || name == "OUT";
      if (!temporary_place)
        relations_.push_back(name + "=" + other + "/" + path::relative_below(value, folder));
      break;
    }
  }
  const bool known =
      std::any_of(paths_.begin(), paths_.end(), [&](const auto& other) { return other.second == value; });
  if (known) return;
  tokens_.add(name, value);
  if (tokens_.value_of(name) != nullptr) paths_.emplace_back(std::move(name), value);
}

void Bindings::add_loose(std::string name, std::string_view value, Sight sight) {
  if (value.empty()) return;
  // PATH is searched as it stands: what a tool shows of it in another spelling is a list of its own making.
  if (name != "PATH" && may_be_escaped(value)) sight = Sight::always;
  loose_.push_back({std::move(name), std::string(value), sight});
}

/// OLDPWD is often a folder above the root, and must not count wherever the root is shown.
bool Bindings::mentions_place(std::string_view bytes, std::string_view value) const {
  const auto in_name = [&](std::size_t at) { return at < bytes.size() && !ends_name(bytes[at]); };
  for (auto at = bytes.find(value); at != std::string_view::npos; at = bytes.find(value, at + 1)) {
    // Each path has slashes: alone it is the name of the first folder.
    if (value == "/" && ((at > 0 && in_name(at - 1)) || in_name(at + 1))) continue;
    const auto rest = bytes.substr(at);
    const bool longer = std::any_of(paths_.begin(), paths_.end(), [&](const auto& path) {
      return path.second.size() > value.size() && rest.starts_with(path.second);
    });
    if (!longer) return true;
  }
  return false;
}

bool Bindings::mentions(std::string_view bytes, const Loose& loose) const {
  switch (loose.sight) {
    case Sight::anywhere:
      return bytes.find(loose.value) != std::string_view::npos;
    case Sight::word:
      return has_word(bytes, loose.value);
    case Sight::place:
      return mentions_place(bytes, loose.value);
    case Sight::always:
      return !bytes.empty();
  }
  return true;
}

std::vector<std::string> Bindings::mentioned_in(std::string_view bytes) const {
  auto names = tokens_.mentioned_in(bytes);
  for (const auto& [name, value] : paths_) {
    if (!bytes.empty() && may_be_escaped(value) && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  for (const auto& loose : loose_) {
    if (mentions(bytes, loose)) names.push_back(loose.name);
  }
  return names;
}

std::vector<std::string> Bindings::all_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : paths_) names.push_back(name);
  for (const auto& loose : loose_) names.push_back(loose.name);
  return names;
}

const std::string* Bindings::value_of(std::string_view name) const {
  if (const auto* value = tokens_.value_of(name)) return value;
  const auto found =
      std::find_if(loose_.begin(), loose_.end(), [&](const auto& entry) { return entry.name == name; });
  return found == loose_.end() ? nullptr : &found->value;
}

std::string Bindings::fold_or_mark(std::string_view text) const {
  if (auto folded = tokens_.fold(text)) return *std::move(folded);
  // Such a text holds the marker bytes itself. No folded text begins with a closing marker, so nothing else
  // equals this.
  return "\x02" + std::string(text);
}

}  // namespace hallmark::engine
