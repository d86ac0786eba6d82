#include "manifest/internal/table_reader.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/format.h"
#include "base/limits.h"
#include "manifest/internal/placeholders.h"

namespace hallmark::manifest {
namespace {

constexpr std::string_view kText = "a text";

/// Of two words: letters added, dropped, replaced, and neighbours swapped.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> before(other.size() + 1);
  std::vector<std::size_t> row(other.size() + 1);
  std::vector<std::size_t> next(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    next[0] = i + 1;
    for (std::size_t j = 0; j < other.size(); ++j) {
      next[j + 1] = std::min({row[j] + (one[i] == other[j] ? 0 : 1), next[j] + 1, row[j + 1] + 1});
      if (i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j])
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row.back();
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::vector<Problem> Problems::take() {
  std::ranges::stable_sort(list_, [](const Problem& one, const Problem& other) {
    return std::pair(one.place.line, one.place.column) < std::pair(other.place.line, other.place.column);
  });
  const auto same = [](const Problem& one, const Problem& other) {
    return one.place.line == other.place.line && one.place.column == other.place.column &&
           one.what == other.what;
  };
  list_.erase(std::ranges::unique(list_, same).begin(), list_.end());
  if (list_.size() > limits::kManifestProblems) {
    const auto more = list_.size() - limits::kManifestProblems;
    list_.resize(limits::kManifestProblems);
    list_.push_back({list_.back().place,
                     formatted("{} more problems are not shown (kManifestProblems)", more),
                     "correct these first"});
  }
  return std::move(list_);
}

void Problems::check_placeholders(const Text& text, const std::vector<std::string>& more) {
  constexpr std::string_view kSource = "source.";
  const auto value_of = [&](const std::string& name) -> std::optional<std::string> {
    const bool is_source = name.starts_with(kSource) &&
                           std::ranges::find(sources_, name.substr(kSource.size())) != sources_.end();
    if (name == "root" || is_source || std::ranges::find(more, name) != more.end()) return "";
    return std::nullopt;
  };
  if (const auto made = with_values(text.text, value_of, sources_, more); !made.has_value())
    add(text.place, made.error().what, made.error().hint);
}

void Problems::check_path(const Text& text) {
  const auto path = std::string_view(text.text).substr(text.text.starts_with('!') ? 1 : 0);
  if (path.empty()) {
    add(text.place, "an empty path", "leave it out");
  } else if (leaves_root(path)) {
    add(text.place, formatted("\"{}\" leaves the folder of the manifest", text.text),
        "name what lies elsewhere as a [source], and begin with {source.NAME}");
  } else {
    check_placeholders(text, {});
  }
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  // A word that shares nothing with it is not near, however short both are.
  std::size_t best_distance = std::min(std::max<std::size_t>(1, word.size() / 3) + 1, word.size());
  for (const auto& candidate : known) {
    const auto d = distance(word, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  if (const auto near = nearest(word, known)) return formatted("did you mean \"{}\"?", *near);
  return known.empty() ? std::string() : formatted("known are {}", listed(known));
}

bool is_name(std::string_view text, bool dashes) {
  if (text.empty() || !is_letter(text.front())) return false;
  return std::ranges::all_of(
      text, [dashes](char c) { return is_letter(c) || is_digit(c) || c == '_' || (dashes && c == '-'); });
}

bool is_identifier(std::string_view text) {
  const auto is_word = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  return !text.empty() && !is_digit(text.front()) && std::ranges::all_of(text, is_word);
}

std::optional<Value> value_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::text:
      return Value{Value::Kind::text, node.text};
    case Node::Kind::integer:
      return Value{Value::Kind::integer, node.text};
    case Node::Kind::boolean:
      return Value{Value::Kind::boolean, node.text};
    default:
      return std::nullopt;
  }
}

const Member* TableReader::member(std::string_view key) {
  if (std::ranges::find(asked_, key) == asked_.end()) asked_.emplace_back(key);
  const auto found = std::ranges::find(table_.members, key, &Member::key);
  return found == table_.members.end() ? nullptr : &*found;
}

void TableReader::wrong(const Member& member, std::string_view wanted) {
  const auto& node = member.value;
  const bool lacks_quotes = wanted == kText && value_of(node).has_value();
  problems_.add(node.place,
                formatted("{}: {} must be {}, not {}", title_, member.key, wanted, name_of(node.kind)),
                lacks_quotes ? formatted("write \"{}\"", node.text) : std::string());
}

std::optional<Text> TableReader::text(std::string_view key) {
  const auto* found = member(key);
  if (found == nullptr) return std::nullopt;
  if (found->value.kind != Node::Kind::text) {
    wrong(*found, kText);
    return std::nullopt;
  }
  return Text{found->value.text, found->value.place};
}

std::optional<Text> TableReader::word(std::string_view key) {
  const auto* found = member(key);
  if (found != nullptr && found->value.kind == Node::Kind::integer)
    return Text{found->value.text, found->value.place};
  return text(key);
}

Text TableReader::required_text(std::string_view key) {
  const bool is_there = has(key);
  auto found = text(key);
  if (!is_there) problems_.add(table_.place, formatted("{}: {} is missing", title_, key));
  if (found && found->text.empty()) problems_.add(found->place, formatted("{}: {} is empty", title_, key));
  return found.value_or(Text{"", table_.place});
}

std::string TableReader::text_or(std::string_view key, std::string_view otherwise) {
  const auto found = text(key);
  return found ? found->text : std::string(otherwise);
}

bool TableReader::flag(std::string_view key, bool otherwise) {
  const auto* found = member(key);
  if (found == nullptr) return otherwise;
  if (found->value.kind == Node::Kind::boolean) return found->value.text == "true";
  wrong(*found, "true or false");
  return otherwise;
}

std::uint64_t TableReader::count(std::string_view key, std::uint64_t otherwise) {
  const auto* found = member(key);
  if (found == nullptr) return otherwise;
  const auto& text = found->value.text;
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_count = found->value.kind == Node::Kind::integer && read.ec == std::errc() &&
                        read.ptr == text.data() + text.size();
  if (is_count) return value;
  problems_.add(found->value.place, formatted("{}: {} must be a whole number, 0 or more", title_, key));
  return otherwise;
}

Texts TableReader::texts(std::string_view key) {
  Texts texts;
  const auto* found = member(key);
  if (found == nullptr) return texts;
  if (found->value.kind != Node::Kind::array) {
    wrong(*found, "a list of texts");
    return texts;
  }
  for (const auto& item : found->value.items) {
    if (item.kind == Node::Kind::text) {
      texts.push_back({item.text, item.place});
    } else {
      problems_.add(item.place,
                    formatted("{}: {} must be a list of texts; this is {}", title_, key, name_of(item.kind)));
    }
  }
  return texts;
}

std::vector<std::string> TableReader::words(std::string_view key) {
  std::vector<std::string> words;
  for (auto& text : texts(key)) words.push_back(std::move(text.text));
  return words;
}

Texts TableReader::paths(std::string_view key) {
  auto paths = texts(key);
  for (const auto& path : paths) problems_.check_path(path);
  return paths;
}

std::string TableReader::path_or(std::string_view key, std::string_view otherwise) {
  const auto found = text(key);
  if (!found) return std::string(otherwise);
  problems_.check_path(*found);
  return found->text;
}

Texts TableReader::command(std::string_view key, const std::vector<std::string>& more) {
  auto words = texts(key);
  for (const auto& word : words) problems_.check_placeholders(word, more);
  return words;
}

std::vector<std::string> TableReader::flags(std::string_view key) {
  std::vector<std::string> flags;
  for (auto& text : command(key, {})) flags.push_back(std::move(text.text));
  return flags;
}

std::vector<std::string> TableReader::defines(std::string_view key) {
  std::vector<std::string> defines;
  for (auto& text : texts(key)) {
    if (!is_identifier(std::string_view(text.text).substr(0, text.text.find('='))))
      problems_.add(text.place, formatted("{}: \"{}\" defines no macro", title_, text.text),
                    "write NAME or NAME=VALUE");
    defines.push_back(std::move(text.text));
  }
  return defines;
}

std::vector<Value> TableReader::values_of(const Member& member) {
  std::vector<Value> values;
  const auto add = [&](const Node& node) {
    if (auto value = value_of(node)) {
      values.push_back(std::move(*value));
    } else {
      problems_.add(node.place,
                    formatted("{}: {}: a value is a text, a whole number, true or false; this is {}", title_,
                              member.key, name_of(node.kind)));
    }
  };
  if (member.value.kind != Node::Kind::array) {
    add(member.value);
    return values;
  }
  for (const auto& item : member.value.items) add(item);
  if (member.value.items.empty())
    problems_.add(member.value.place,
                  formatted("{}: {} is an empty list, which no variant matches", title_, member.key),
                  "leave the key out to mean all values");
  return values;
}

std::optional<std::vector<Value>> TableReader::values(std::string_view key) {
  const auto* found = member(key);
  if (found == nullptr) return std::nullopt;
  return values_of(*found);
}

std::map<std::string, Value> TableReader::scalars(std::string_view key) {
  std::map<std::string, Value> scalars;
  const auto* found = table(key);
  if (found == nullptr) return scalars;
  for (const auto& member : found->members) {
    if (auto value = value_of(member.value)) {
      scalars.emplace(member.key, std::move(*value));
    } else {
      problems_.add(member.value.place, formatted("{}: {}.{} must be one text, number or truth value, not {}",
                                                  title_, key, member.key, name_of(member.value.kind)));
    }
  }
  return scalars;
}

std::map<std::string, std::string> TableReader::text_table(std::string_view key) {
  std::map<std::string, std::string> texts;
  for (auto& [name, value] : scalars(key)) texts.emplace(name, value.text);
  return texts;
}

std::optional<std::vector<ToolchainKind>> TableReader::toolchains(std::string_view key) {
  if (!has(key)) return std::nullopt;
  std::vector<ToolchainKind> kinds;
  for (const auto& text : texts(key)) {
    const std::vector<std::string> known = {"cpu", "cuda", "hip"};
    const auto found = std::ranges::find(known, text.text);
    if (found == known.end()) {
      problems_.add(text.place, formatted("{}: no toolchain \"{}\"", title_, text.text),
                    suggestion(text.text, known));
      continue;
    }
    const auto kind = static_cast<ToolchainKind>(found - known.begin());
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

const Node* TableReader::table(std::string_view key) {
  const auto* found = member(key);
  if (found == nullptr) return nullptr;
  if (found->value.kind == Node::Kind::table) return &found->value;
  wrong(*found, "a table");
  return nullptr;
}

std::vector<const Node*> TableReader::tables(std::string_view key, bool or_one) {
  std::vector<const Node*> tables;
  const auto* found = member(key);
  if (found == nullptr) return tables;
  if (or_one && found->value.kind == Node::Kind::table) return {&found->value};
  if (found->value.kind != Node::Kind::array) {
    wrong(*found, "a list of tables");
    return tables;
  }
  for (const auto& item : found->value.items) {
    if (item.kind == Node::Kind::table) {
      tables.push_back(&item);
    } else {
      problems_.add(item.place, formatted("{}: {} must be a list of tables; this is {}", title_, key,
                                          name_of(item.kind)));
    }
  }
  return tables;
}

std::string TableReader::one_of(std::string_view key, const std::vector<std::string>& known,
                                std::string_view otherwise) {
  const auto found = word(key);
  if (!found) return std::string(otherwise);
  if (std::ranges::find(known, found->text) != known.end()) return found->text;
  problems_.add(found->place, formatted("{}: {} cannot be \"{}\"", title_, key, found->text),
                suggestion(found->text, known));
  return std::string(otherwise);
}

void TableReader::finish() {
  for (const auto& member : table_.members)
    if (std::ranges::find(asked_, member.key) == asked_.end())
      problems_.add(member.place, formatted("{}: unknown key \"{}\"", title_, member.key),
                    suggestion(member.key, asked_));
}

}  // namespace hallmark::manifest
