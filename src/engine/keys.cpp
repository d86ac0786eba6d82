#include "engine/keys.h"

#include <algorithm>

#include "base/path.h"
#include "digest/encoding.h"

namespace hallmark::engine {
namespace {

std::string_view word_of(model::StreamKind kind) {
  switch (kind) {
    case model::StreamKind::closed:
      return "closed";
    case model::StreamKind::null_device:
      return "null device";
    case model::StreamKind::file:
      return "file";
    case model::StreamKind::pipe:
      return "pipe";
    case model::StreamKind::tty:
      return "terminal";
    case model::StreamKind::other:
      return "other";
  }
  return "other";
}

/// A tool can tell a terminal, and a stream that is closed; files, pipes and devices are all the same to it.
std::string_view output_word(model::StreamKind kind) {
  return kind == model::StreamKind::tty || kind == model::StreamKind::closed ? word_of(kind) : "no terminal";
}

}  // namespace

std::string counted_makeflags(std::string_view value) {
  // "kw -j8 --jobserver-auth=fifo:/tmp/x -- CFLAGS=-O3": only what stands behind "--" is the user's.
  if (value.starts_with("-- ")) return std::string(value.substr(3));
  const auto mark = value.find(" -- ");
  return mark == std::string_view::npos ? std::string() : std::string(value.substr(mark + 4));
}

CommandKey key_of(const model::Command& command, const Bindings& bindings,
                  std::span<const std::string> ignored, std::string_view machine) {
  CommandKey key;
  auto& text = key.text;
  for (const auto& argument : command.argv) text.argv.push_back(bindings.fold_or_mark(argument));
  text.cwd = bindings.fold_or_mark(command.cwd);
  for (const auto& [name, value] : command.environment) {
    if (is_bound_variable(name)) {
      // The value is treated by its effect; that there is one can matter by itself.
      if (name == "PATH" && bindings.path_is_text())
        text.environment.emplace_back(name, bindings.fold_or_mark(value));
      else if (name == "PATH" || name == "HOME" || name == "TMPDIR" || name == "VIRTUAL_ENV")
        text.environment.emplace_back(name, value.empty() ? "" : "(any)");
      continue;
    }
    if (name == "MAKEFLAGS") {
      if (auto counted = counted_makeflags(value); !counted.empty())
        text.environment.emplace_back(name, bindings.fold_or_mark(counted));
      continue;
    }
    if (!is_ignored_variable(name, ignored))
      text.environment.emplace_back(name, bindings.fold_or_mark(value));
  }
  const auto note = [&](std::string_view name, std::string_view value) {
    text.others.push_back(std::string(name) + "=" + std::string(value));
  };
  note("stdin", word_of(command.in));
  note("stdout", output_word(command.out));
  note("stderr", output_word(command.err));
  note("merged", command.merged ? "yes" : "no");
  note("uid", std::to_string(command.uid));
  note("umask", std::to_string(command.umask));
  note("machine", machine);
  for (const auto& relation : bindings.relations()) note("place", relation);

  digest::Encoder out;
  out.text("hallmark weak key").number(kKeyFormat).number(text.argv.size());
  for (const auto& argument : text.argv) out.text(argument);
  out.text(text.cwd).number(text.environment.size());
  for (const auto& [name, value] : text.environment) out.text(name).text(value);
  out.number(text.others.size());
  for (const auto& other : text.others) out.text(other);
  key.weak = out.key();
  return key;
}

digest::Key site_of(const model::Command& command, const std::string& root, const std::string& output) {
  digest::Encoder out;
  out.text("hallmark site").text(root).text(command.cwd);
  if (!output.empty()) {
    out.text("output").text(output);
  } else {
    out.text("program").text(path::base_name(command.argv.front())).text(command.argv.back());
  }
  return out.key();
}

}  // namespace hallmark::engine
