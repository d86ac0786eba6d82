#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include "app/config_file.h"

#include <toml++/toml.h>

#include <algorithm>

#include "app/config_cache.h"
#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"

namespace hallmark::app {
namespace {

constexpr std::string_view kKnownKeys = "store, observe, disable, ignore_environment";

class Reader {
 public:
  Reader(const std::string& path, std::string_view base, std::string_view home)
      : path_(path), base_(base), home_(home) {}

  Result<FileSettings> read(const toml::table& table) {
    FileSettings settings;
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (name == "store") {
        HALLMARK_TRY(settings.store, folder(node));
      } else if (name == "observe") {
        HALLMARK_TRY(settings.observe, tier(node));
      } else if (name == "disable") {
        if (!node.is_boolean()) return wrong(node.source(), "disable must be true or false");
        settings.disable = node.as_boolean()->get();
      } else if (name == "ignore_environment") {
        HALLMARK_TRY(settings.ignore_environment, names(node));
      } else {
        return wrong(key.source(), formatted("unknown key \"{}\"; known are {}", name, kKnownKeys));
      }
    }
    return settings;
  }

 private:
  Result<std::string> folder(const toml::node& node) const {
    const auto* text = node.as_string();
    if (text == nullptr || text->get().empty())
      return wrong(node.source(), "store must be the path of a folder");
    const std::string_view value = text->get();
    if (value.starts_with("~/")) {
      if (home_.empty())
        return wrong(node.source(), "store uses ~ but HOME is not set; write an absolute path");
      return path::join(home_, value.substr(2));
    }
    return path::join(base_, value);
  }

  Result<model::Tier> tier(const toml::node& node) const {
    const auto* text = node.as_string();
    const auto found = text == nullptr ? std::nullopt : tier_of(text->get());
    if (!found) return wrong(node.source(), formatted("observe must be {}", kTierWords));
    return *found;
  }

  Result<std::vector<std::string>> names(const toml::node& node) const {
    constexpr std::string_view kWanted =
        "ignore_environment must be a list of variable names, such as [\"CI_JOB_*\"]";
    const auto* list = node.as_array();
    if (list == nullptr) return wrong(node.source(), kWanted);
    std::vector<std::string> names;
    for (const toml::node& item : *list) {
      const auto* text = item.as_string();
      if (text == nullptr || text->get().empty() || text->get() == "*" ||
          text->get().find('=') != std::string::npos)
        return wrong(item.source(), kWanted);
      names.push_back(text->get());
    }
    return names;
  }

  tl::unexpected<Error> wrong(const toml::source_region& at, std::string_view what) const {
    return fail(Error{ErrorKind::invalid, formatted("{}:{}: {}", path_, at.begin.line, what), {}});
  }

  const std::string& path_;
  std::string_view base_;
  std::string_view home_;
};

/// Written so shortly ago that another write would leave the same signature.
bool is_racy(const std::optional<FileStat>& stat, std::int64_t now_ns) {
  return stat && now_ns - std::max(stat->mtime_ns, stat->ctime_ns) < limits::kRacyWindow_ns;
}

}  // namespace

Result<FileSettings> parse_config(std::string_view text, const std::string& path, std::string_view base,
                                  std::string_view home) {
  const toml::parse_result parsed = toml::parse(text, std::string_view(path));
  if (!parsed) {
    return fail(
        Error{ErrorKind::invalid,
              formatted("{}:{}: {}", path, parsed.error().source().begin.line, parsed.error().description()),
              "correct the TOML syntax"});
  }
  return Reader(path, base, home).read(parsed.table());
}

Result<std::string> compile_config(os::FileSystem& files, os::Clock& clock,
                                   const model::Environment& environment, std::string_view root) {
  CompiledConfig config;
  config.files = config_paths(environment, root);
  HALLMARK_TRY(config.signature, signature_of(files, config.files));
  const auto home_entry = environment.find("HOME");
  const std::string home = home_entry == environment.end() ? std::string() : home_entry->second;
  if (config.signature.user) {
    HALLMARK_TRY(const std::string text, os::read_file(files, config.files.user_path, limits::kConfigBytes));
    HALLMARK_TRY(config.files.user, parse_config(text, config.files.user_path, home, home));
  }
  if (config.signature.root) {
    HALLMARK_TRY(const std::string text, os::read_file(files, config.files.root_path, limits::kConfigBytes));
    HALLMARK_TRY(config.files.root, parse_config(text, config.files.root_path, root, home));
  }
  std::string bytes = encode(config);
  const std::int64_t now_ns = clock.now_ns();
  const std::string cache = config_cache_path(environment, config.files);
  if (!cache.empty() && !is_racy(config.signature.user, now_ns) && !is_racy(config.signature.root, now_ns)) {
    // Best effort: without it, the next run compiles again.
    if (os::make_folders(files, std::string(path::parent(cache))).has_value())
      (void)os::write_file_atomically(files, cache, bytes, std::to_string(now_ns), false);
  }
  return bytes;
}

}  // namespace hallmark::app
