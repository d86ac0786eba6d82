#include "cli/doctor_view.h"

#include "base/format.h"
#include "cli/json.h"

namespace hallmark::cli {
namespace {

template <class T>
std::string origin_text(const app::Sourced<T>& setting) {
  std::string text(app::name_of(setting.origin));
  if (!setting.where.empty()) text += " " + setting.where;
  return text;
}

template <class T, class Value>
Json setting_json(const app::Sourced<T>& setting, const Value& value) {
  return {{"value", value}, {"origin", app::name_of(setting.origin)}, {"where", setting.where}};
}

std::string_view shown(const std::string& value) {
  return value.empty() ? std::string_view("none") : value;
}

/// Paths too long for their column push the origin to the right, no more.
std::string row(std::string_view name, std::string_view value, std::string_view origin) {
  return formatted("{:<20} {:<40} {}\n", name, value, origin);
}

std::string store_line(const app::Session& session, const app::Diagnosis& found) {
  const std::string& folder = session.settings.store.value;
  if (!found.store_usable) return formatted("BAD  {}\n", found.store_problem);
  if (found.store_read_only)
    return formatted("BAD  {} can only be read: results are replayed, none is recorded\n", folder);
  return formatted("ok   {} ({}{})\n", folder, found.store_filesystem,
                   found.store_on_network
                       ? "; a network file system: contents are read again instead of trusting their times"
                       : "");
}

}  // namespace

std::string settings_text(const app::Session& session) {
  const app::Settings& settings = session.settings;
  std::string text = row("store", shown(settings.store.value), origin_text(settings.store)) +
                     row("root", settings.root.value, origin_text(settings.root)) +
                     row("observe", model::name_of(settings.observe.value), origin_text(settings.observe)) +
                     row("disable", settings.disable.value ? "true" : "false", origin_text(settings.disable));
  for (const auto& name : settings.ignore_environment)
    text += row("ignore_environment", name.value, origin_text(name));
  return text + formatted("\nuser file     {}\nproject file  {}\n", shown(session.config.user_path),
                          session.config.root_path);
}

std::string settings_json(const app::Session& session) {
  const app::Settings& settings = session.settings;
  Json ignored = Json::array();
  for (const auto& name : settings.ignore_environment) ignored.push_back(setting_json(name, name.value));
  return line_of({{"store", setting_json(settings.store, settings.store.value)},
                  {"root", setting_json(settings.root, settings.root.value)},
                  {"observe", setting_json(settings.observe, model::name_of(settings.observe.value))},
                  {"disable", setting_json(settings.disable, settings.disable.value)},
                  {"ignore_environment", std::move(ignored)},
                  {"user_file", session.config.user_path},
                  {"project_file", session.config.root_path},
                  {"warnings", session.warnings}});
}

std::string diagnosis_text(const app::Session& session, const app::Diagnosis& found) {
  const auto best = found.best_tier();
  std::string text = formatted("kernel     {}\n", found.kernel);
  for (const observe::TierStatus& status : found.tiers) {
    text += formatted("{:<10} {}{}{}\n", model::name_of(status.tier), status.works ? "ok  " : "no  ",
                      status.tier == best ? " used by runs" : "", status.why.empty() ? "" : " " + status.why);
  }
  if (!best) text += "           BAD  commands cannot be observed here: they run, nothing is recorded\n";
  text += formatted("store      {}", store_line(session, found));
  text += formatted("root       {}\n", session.settings.root.value);
  text += formatted("agent      {}\n", session.installation.agent.empty()
                                           ? "not installed: hybrid is not possible"
                                           : session.installation.agent);
  for (const app::ToolFound& tool : found.tools)
    text += formatted("{:<10} {}\n", tool.name, tool.path.empty() ? "not on PATH" : tool.path);
  return text;
}

std::string diagnosis_json(const app::Session& session, const app::Diagnosis& found) {
  Json tiers = Json::array();
  for (const observe::TierStatus& status : found.tiers)
    tiers.push_back({{"tier", model::name_of(status.tier)}, {"works", status.works}, {"why", status.why}});
  Json tools = Json::object();
  for (const app::ToolFound& tool : found.tools)
    tools[tool.name] = tool.path.empty() ? Json() : Json(tool.path);
  const auto best = found.best_tier();
  return line_of({{"healthy", found.healthy()},
                  {"kernel", found.kernel},
                  {"tier", best ? Json(model::name_of(*best)) : Json()},
                  {"tiers", std::move(tiers)},
                  {"store",
                   {{"folder", session.settings.store.value},
                    {"usable", found.store_usable},
                    {"read_only", found.store_read_only},
                    {"problem", found.store_problem},
                    {"file_system", found.store_filesystem},
                    {"network", found.store_on_network}}},
                  {"root", session.settings.root.value},
                  {"agent", session.installation.agent},
                  {"tools", std::move(tools)}});
}

}  // namespace hallmark::cli
