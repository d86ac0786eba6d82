#include "engine/questions.h"

#include <algorithm>
#include <map>

#include "base/limits.h"
#include "base/path.h"
#include "engine/answers.h"
#include "engine/environment.h"
#include "engine/internal/loader_cache.h"
#include "engine/kinds.h"

namespace hallmark::engine {
namespace {

using model::Aspect;
using model::ReasonCode;
using model::Use;

constexpr std::size_t kSourceBytes = 256u << 20;

bool is_gpu_device(std::string_view path) {
  return path.starts_with("/dev/nvidia") || path.starts_with("/dev/dri/") || path == "/dev/kfd";
}

}  // namespace

struct Questions::Draft {
  std::map<model::Question, model::Answer> answers;
  std::vector<model::Reason> doubts;
  std::vector<std::string> changed;
  std::set<std::string> made;     ///< paths that the command made whole, or folders that it made
  std::set<std::string> written;  ///< all paths that the command changed
  std::map<std::string, std::vector<std::string>> made_names;  ///< folder -> names made in it, sorted
  std::map<std::string, std::set<std::size_t>> searched;  ///< name -> places in PATH where it was looked for
  std::set<std::string> executed;                         ///< names of programs
  std::set<std::string> libraries;                        ///< sonames that were asked for
  std::vector<const model::ObservedInput*> contents;
  std::map<std::string_view, digest::ClockWords> clocks;  ///< of contents, where the hasher knew them
  std::set<std::string_view> read;                        ///< paths whose content was read
  bool loader_cache_read = false;
  bool search_path_counts = false;

  void doubt(ReasonCode code, std::string subject) { doubts.push_back({code, std::move(subject), {}, {}}); }
};

Asked Questions::of(const model::Observation& observation, bool with_contents) {
  Draft draft;
  for (const auto& program : observation.programs) draft.executed.insert(program.name);
  for (const auto& output : observation.outputs) {
    draft.written.insert(output.path);
    if (output.whole) draft.made.insert(output.path);
    draft.made_names[std::string(path::parent(output.path))].emplace_back(path::base_name(output.path));
  }
  for (auto& [folder, names] : draft.made_names) std::sort(names.begin(), names.end());

  for (const auto& input : observation.inputs) {
    if (input.use == Use::content && input.stat) draft.read.insert(input.path);
    add_input(input, observation, draft);
  }
  add_programs(observation, draft);
  add_search(draft);
  add_loader(draft);
  add_stdin(observation, draft);
  add_contents(observation, with_contents, draft);
  add_source_clocks(observation, draft);

  Asked asked;
  for (auto& [question, answer] : draft.answers) {
    asked.paths.questions.push_back(question);
    asked.answers.push_back(std::move(answer));
  }
  asked.doubts = std::move(draft.doubts);
  asked.changed = std::move(draft.changed);
  return asked;
}

bool Questions::is_temporary_folder(std::string_view folder) const {
  return std::find(temporary_folders_.begin(), temporary_folders_.end(), folder) != temporary_folders_.end();
}

bool Questions::is_clean_up(const std::string& listed) const {
  // (A script in front of nvcc, too: it is nvcc that lists the folder.)
  return kind_of_program(world_.command.argv.front()) != ProgramKind::other && is_temporary_folder(listed);
}

void Questions::add_input(const model::ObservedInput& input, const model::Observation& observation,
                          Draft& draft) {
  const auto& path = input.path;
  if (path::is_within(path, path::join(root_, ".hallmark/watch"))) return;
  const bool content = input.use == Use::content && input.stat.has_value();
  // A probe of what the command then makes whole is no input; what it read of the old bytes is (rule 2).
  if (draft.made.contains(path) && !content && !input.before_own_change) return;
  if (content && draft.written.contains(path) && !input.digest) {
    draft.doubt(ReasonCode::input_changed, path);
    return;
  }
  if (is_gpu_device(path) && input.stat) {
    add_machine("gpu", draft);
    return;
  }
  const auto folded = world_.bindings.tokens().fold(path);
  if (!folded) {
    draft.doubt(ReasonCode::volatile_input, path);
    return;
  }

  const std::string name(path::base_name(path));
  const std::string folder(path::parent(path));
  if (!input.stat && is_nvcc_temporary(name) && is_temporary_folder(folder)) return;
  const auto& search = states_.programs().folders();
  const auto place = std::find(search.begin(), search.end(), folder);
  if (place != search.end() && input.use != Use::listing)
    draft.searched[name].insert(static_cast<std::size_t>(place - search.begin()));
  if (is_library_name(name) && path != LoaderCache::kPath) draft.libraries.insert(name);

  switch (input.use) {
    case Use::content:
      if (path == LoaderCache::kPath) {
        draft.loader_cache_read = true;
        return;
      }
      if (!content) {
        draft.answers[{Aspect::kind, *folded}] = answer_absent();
      } else if (input.stat->kind == NodeKind::directory) {
        draft.answers[{Aspect::kind, *folded}] = answer_kind(input.stat);
      } else if (input.stat->kind != NodeKind::file && !input.digest) {
        draft.doubt(ReasonCode::volatile_input, path);
      } else {
        draft.contents.push_back(&input);
      }
      return;
    case Use::kind:
      if (path == LoaderCache::kPath && input.stat) return;
      draft.answers[{Aspect::kind, *folded}] = answer_kind(input.stat);
      return;
    case Use::listing: {
      if (std::find(search.begin(), search.end(), path) != search.end()) draft.search_path_counts = true;
      if (!input.stat) {
        draft.answers[{Aspect::kind, *folded}] = answer_absent();
        return;
      }
      if (is_clean_up(path)) {
        draft.answers[{Aspect::kind, *folded}] = answer_kind(input.stat);
        return;
      }
      const auto made = draft.made_names.find(path);
      const auto own = made == draft.made_names.end() ? std::vector<std::string>() : made->second;
      draft.answers[{Aspect::listing, listing_subject(*folded, own)}] = answer_names(input.names, own);
      return;
    }
    case Use::link:
      draft.answers[{Aspect::link, *folded}] =
          input.stat && input.stat->kind != NodeKind::symlink ? answer_kind(input.stat)
          : input.stat || !input.target.empty() ? answer_text(world_.bindings.fold_or_mark(input.target))
                                                : answer_absent();
      return;
    case Use::size:
    case Use::mtime: {
      const bool size = input.use == Use::size;
      draft.answers[{size ? Aspect::size : Aspect::mtime, *folded}] =
          !input.stat ? answer_absent()
                      : answer_number(size ? static_cast<std::int64_t>(input.stat->size_bytes)
                                           : input.stat->mtime_ns);
      return;
    }
  }
  draft.doubt(ReasonCode::volatile_input, path);
  (void)observation;
}

void Questions::add_programs(const model::Observation& observation, Draft& draft) {
  const bool bypassed = world_.command.environment.contains("CCACHE_DISABLE");
  for (const auto& program : observation.programs) {
    // The name that was asked for, not the file behind it: a link "g++" to "g++-12" is looked up as "g++".
    if (is_oracle(program.name)) draft.doubt(ReasonCode::clock_used, program.path);
    if (tells_host(program.name)) add_machine("host", draft);
    const auto kind = kind_of_program(program.name);
    if (kind == ProgramKind::peer_remote) {
      draft.doubts.push_back({ReasonCode::foreign_cache, program.name, {}, "start the compiler without it"});
    } else if (kind == ProgramKind::peer_cache && !bypassed) {
      draft.doubts.push_back({ReasonCode::foreign_cache, program.name, {}, "set CCACHE_DISABLE=1"});
    }
  }
  add_processor(observation, draft);
  add_attributes(observation, draft);
}

/// A compiler asks the processor itself, by an instruction, what "native" means. The words of a compiler that
/// another program started are not known, nor those of a configuration file of clang.
void Questions::add_processor(const model::Observation& observation, Draft& draft) {
  const bool compiles =
      std::any_of(observation.programs.begin(), observation.programs.end(), [](const auto& program) {
        const auto kind = kind_of_program(program.name);
        return kind == ProgramKind::compiler || kind == ProgramKind::assembler || kind == ProgramKind::linker;
      });
  const bool unknown_words = !is_known_tool(world_.command);
  const bool configured =
      std::any_of(observation.inputs.begin(), observation.inputs.end(), [](const auto& input) {
        return input.use == Use::content && input.stat && input.path.ends_with(".cfg");
      });
  if (native_ || (compiles && (unknown_words || configured))) add_machine("cpu", draft);
}

/// Sizes and times of files, which a look at them tells (rule 4). Compilers, linkers and assemblers look only
/// whether a file is there; the build and archive tools that are known for it compare the times of what they
/// read, too; of every other program nobody knows what it made of a look at a file that it did not read.
void Questions::add_attributes(const model::Observation& observation, Draft& draft) {
  const bool timestamps = std::any_of(observation.programs.begin(), observation.programs.end(),
                                      [](const auto& program) { return reads_timestamps(program.name); });
  const auto is_precompiled = [](std::string_view path) {
    return path.ends_with(".pch") || path.ends_with(".pcm");
  };
  const bool precompiled = std::any_of(observation.inputs.begin(), observation.inputs.end(),
                                       [&](const auto& input) {
                                         return input.use == Use::content && is_precompiled(input.path);
                                       }) ||
                           std::any_of(observation.outputs.begin(), observation.outputs.end(),
                                       [&](const auto& output) { return is_precompiled(output.path); });
  const bool all_times = timestamps || precompiled;
  const bool looks = !looks_for_existence_alone(world_.command);
  if (!all_times && !looks) return;
  for (const auto& input : observation.inputs) {
    const bool looked_at = input.use == Use::kind || input.use == Use::content;
    if (!looked_at || !input.stat || input.stat->kind != NodeKind::file || draft.made.contains(input.path))
      continue;
    if (is_volatile(input.path)) continue;
    // Nobody compares the age of the programs and libraries of the system that he executes.
    const bool read = draft.read.contains(input.path);
    const bool tool = input.stat->executable() || is_library_name(path::base_name(input.path));
    if (tool && read && !path::is_within(input.path, root_)) continue;
    const auto folded = world_.bindings.tokens().fold(input.path);
    if (!folded) continue;
    if (all_times || !read) draft.answers[{Aspect::mtime, *folded}] = answer_number(input.stat->mtime_ns);
    if (!read)
      draft.answers[{Aspect::size, *folded}] =
          answer_number(static_cast<std::int64_t>(input.stat->size_bytes));
  }
}

void Questions::add_machine(const std::string& what, Draft& draft) {
  const auto identity = world_.machine.identity(what);
  draft.answers[{Aspect::machine, what}] = identity ? answer_text(*identity) : answer_unknown(what);
}

void Questions::add_search(Draft& draft) {
  auto& programs = states_.programs();
  for (const auto& [name, places] : draft.searched) {
    const auto found = programs.find(name);
    draft.answers[{Aspect::program, name}] =
        found ? answer_text(world_.bindings.fold_or_mark(*found)) : answer_absent();
    if (!found) continue;
    // Somebody looked behind the first match ("which -a"): then the whole of PATH counts.
    const auto& folders = programs.folders();
    const auto first = std::find(folders.begin(), folders.end(), path::parent(*found));
    if (*places.rbegin() > static_cast<std::size_t>(first - folders.begin())) draft.search_path_counts = true;
    // The look-up answers what the absent names in front of it did.
    for (const auto place : places) {
      const auto folded = world_.bindings.tokens().fold(path::join(folders[place], name));
      if (!folded) continue;
      // (If it was executed. Who only looks may also take a file that cannot be, which the look-up passes
      // over.)
      if (!draft.executed.contains(name)) continue;
      const auto probe = draft.answers.find({Aspect::kind, *folded});
      if (probe != draft.answers.end() && is_absent(probe->second)) draft.answers.erase(probe);
    }
  }
  if (draft.search_path_counts) {
    const auto* value = world_.bindings.value_of("PATH");
    draft.answers[{Aspect::bound, "PATH"}] = value != nullptr ? answer_text(*value) : answer_absent();
  }
}

void Questions::add_loader(Draft& draft) {
  if (!draft.loader_cache_read) return;
  model::PathSet sonames;
  for (const auto& name : draft.libraries) sonames.questions.push_back({Aspect::soname, name});
  auto answers = states_.ask(sonames);
  for (std::size_t i = 0; i < answers.size(); ++i)
    draft.answers[sonames.questions[i]] = std::move(answers[i]);
}

void Questions::add_stdin(const model::Observation& observation, Draft& draft) {
  if (!observation.stdin_used) return;
  if (world_.command.in == model::StreamKind::file && !world_.streams.stdin_at_end()) {
    draft.doubt(ReasonCode::stdin_unbounded, "stdin");
  } else if (observation.stdin_digest) {
    draft.answers[{Aspect::stdin_bytes, ""}] = answer_digest(*observation.stdin_digest);
  } else {
    draft.doubt(ReasonCode::stdin_unbounded, "stdin");
  }
}

void Questions::add_contents(const model::Observation& observation, bool with_contents, Draft& draft) {
  for (const auto* input : draft.contents) {
    const auto folded = world_.bindings.tokens().fold(input->path);
    if (!folded) continue;
    auto& answer = draft.answers[{Aspect::content, *folded}];
    // An executable keeps its kind question: without the mode bit it would not start.
    if (!input->stat->executable()) draft.answers.erase({Aspect::kind, *folded});
    if (input->digest) {
      answer = answer_digest(*input->digest);
      continue;
    }
    std::optional<FileStat> now;
    if (with_contents) {
      if (const auto hashed = world_.hasher.hash(input->path); hashed.has_value()) {
        now = hashed->stat;
        answer = answer_digest(hashed->digest);
        if (hashed->clock) draft.clocks.emplace(input->path, *hashed->clock);
      }
    } else if (const auto stat = world_.files.lstat(input->path); stat.has_value()) {
      now = *stat;
    }
    if (now != input->stat) {
      answer = answer_unknown("changed while the command ran");
      draft.changed.push_back(input->path);
      draft.doubt(ReasonCode::input_changed, input->path);
      continue;
    }
    if (!with_contents) answer = answer_unknown("not hashed");
    const bool just_written = input->stat->ctime_ns > observation.start_ns - limits::kRacyWindow_ns;
    if (just_written && !world_.machine.has_fine_stamps(std::string(path::parent(input->path))))
      draft.doubt(ReasonCode::input_racy, input->path);
  }
}

digest::ClockWords Questions::clock_words_of(const model::ObservedInput& input, const Draft& draft) const {
  const auto known = draft.clocks.find(input.path);
  if (known != draft.clocks.end()) return known->second;
  const auto text = os::read_file(world_.files, input.path, kSourceBytes);
  if (!text.has_value()) return {};
  digest::ClockScanner scanner;
  scanner.update(*text);
  return scanner.finish();
}

void Questions::add_source_clocks(const model::Observation& observation, Draft& draft) {
  const bool compiles = std::any_of(observation.programs.begin(), observation.programs.end(),
                                    [](const auto& program) { return reads_c_sources(program.name); });
  const bool assembles = std::any_of(observation.programs.begin(), observation.programs.end(),
                                     [](const auto& program) { return reads_nasm_sources(program.name); });
  if ((!compiles && !assembles) || !draft.doubts.empty()) return;
  if (clock_.date) add_machine("date", draft);
  if (clock_.time || clock_.timestamp) draft.doubt(ReasonCode::clock_used, "the arguments or a variable");
  std::set<std::string_view> programs;
  for (const auto& program : observation.programs) programs.insert(program.path);
  for (const auto* input : draft.contents) {
    if (programs.contains(input->path) || is_library_name(path::base_name(input->path)) ||
        is_volatile(input->path))
      continue;
    if (assembles) {
      const auto text = os::read_file(world_.files, input->path, kSourceBytes);
      if (text.has_value() && nasm_asks_for_clock(*text)) draft.doubt(ReasonCode::clock_used, input->path);
    }
    if (!compiles) continue;
    const auto words = clock_words_of(*input, draft);
    if (!words.any()) continue;
    if (words.date) add_machine("date", draft);
    if (words.timestamp) {
      if (const auto folded = world_.bindings.tokens().fold(input->path))
        draft.answers[{Aspect::mtime, *folded}] = answer_number(input->stat->mtime_ns);
    }
    if (words.time) draft.doubt(ReasonCode::clock_used, input->path);
  }
}

}  // namespace hallmark::engine
