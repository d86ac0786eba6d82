#include "kernels/codegen.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/shell.h"
#include "digest/digest.h"
#include "engine/make_text.h"
#include "kernels/paths.h"
#include "kernels/settled_files.h"
#include "manifest/expand.h"
#include "os/tree.h"

namespace hallmark::kernels {
namespace {

constexpr std::uint32_t kFileMode = 0644;
/// Of the names in one command that copies; the kernel takes 2 MiB.
constexpr std::size_t kCopyWordsBytes = 256 << 10;
/// Names shown in one error; the rest are counted.
constexpr std::size_t kShownNames = 5;

using Paths = std::vector<std::string>;

std::string shown(const Paths& paths) {
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), kShownNames); ++i)
    text.append(text.empty() ? "" : ", ").append(paths[i]);
  if (paths.size() > kShownNames) text += formatted(" and {} more", paths.size() - kShownNames);
  return text;
}

Paths lines_of(std::string_view text) {
  Paths lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

/// The digest of each file, in the order of the list: what generated_lists() compares.
Result<std::string> state_of(os::FileSystem& files, const std::string& folder, const Paths& list) {
  digest::Hasher hasher;
  for (const auto& path : list) {
    HALLMARK_TRY(const auto bytes, os::read_file(files, path::join(folder, path), limits::kSettledFileBytes));
    hasher.update(formatted("{}\n{}\n", path, bytes.size()));
    hasher.update(bytes);
  }
  return hasher.finish().hex();
}

std::string header_of_list(std::string_view state) {
  return formatted("# hallmark generated, sha256 {}\n", state);
}

class Run {
 public:
  Run(const CodegenRequest& request, os::FileSystem& files, Commands& commands)
      : request_(request),
        codegen_(request.codegen),
        files_(files),
        commands_(commands),
        settled_(path::join(request.build_folder, paths::codegen_folder(codegen_.name))),
        fresh_(settled_ + ".new"),
        list_(path::join(request.build_folder, paths::codegen_list(codegen_.name))),
        printed_(settled_ + ".printed") {}

  Result<Generated> operator()() {
    HALLMARK_TRY(const auto cwd, filled(codegen_.cwd.text));
    cwd_ = path::join(request_.manifest.root, cwd == "." ? std::string() : cwd);
    HALLMARK_TRY(const auto listed, list());
    HALLMARK_CHECK(os::remove_tree(files_, fresh_));
    HALLMARK_CHECK(os::make_folders(files_, fresh_));
    HALLMARK_CHECK(run(codegen_.generate));
    HALLMARK_TRY(const auto made, os::files_below(files_, fresh_));
    HALLMARK_CHECK(compare(listed, made));
    HALLMARK_TRY(const auto generated, settle(made));
    HALLMARK_CHECK(os::remove_tree(files_, fresh_));
    return generated;
  }

 private:
  Result<std::string> filled(std::string_view text) const {
    std::string archs;
    for (const auto& arch : request_.archs) archs += (archs.empty() ? "" : ",") + arch;
    return manifest::filled_in(text, request_.manifest, request_.source_folders,
                               {{"out", fresh_}, {"list", printed_}, {"archs", archs}});
  }

  std::vector<std::string> run_words() const {
    std::vector<std::string> words = {request_.program, "run", "--cache"};
    if (!request_.run_root.empty()) words.insert(words.end(), {"--root", request_.run_root});
    return words;
  }

  /// Runs one of the two commands observed, and gathers what it depends on.
  Result<std::string> run(const manifest::Texts& words) {
    const auto depfile = settled_ + ".depfile";
    auto argv = run_words();
    argv.insert(argv.end(), {"--depfile", depfile, "--"});
    std::string command;
    for (const auto& word : words) {
      HALLMARK_TRY(auto text, filled(word.text));
      command += (command.empty() ? "" : " ") + shell_word(text);
      argv.push_back(std::move(text));
    }
    HALLMARK_TRY(auto ended, commands_.run(argv, codegen_.environment, cwd_));
    if (ended.exit_code != 0)
      return fail(
          {ErrorKind::unsupported,
           formatted("{}:{}:{}: generator {} failed with exit code {}: {}", request_.manifest.file,
                     codegen_.place.line, codegen_.place.column, codegen_.name, ended.exit_code, command),
           "what it made is not used"});
    HALLMARK_CHECK(add_dependencies(depfile));
    return std::move(ended.out);
  }

  Status add_dependencies(const std::string& depfile) {
    HALLMARK_TRY(const auto stat, files_.lstat(depfile));
    if (!stat) return {};
    HALLMARK_TRY(const auto text, os::read_file(files_, depfile, limits::kRecordBytes));
    const auto parsed = engine::parse_make_text(text);
    HALLMARK_CHECK(files_.remove(depfile));
    if (!parsed) return fail({ErrorKind::corrupt, formatted("{}: no dependency file", depfile), {}});
    for (const auto& rule : parsed->rules)
      for (const auto& path : rule.prerequisites) {
        auto absolute = path::join(cwd_, path);
        if (!path::is_within(absolute, fresh_) && absolute != printed_)
          dependencies_.insert(std::move(absolute));
      }
    return {};
  }

  /// nullopt: this generator has no list.
  Result<std::optional<Paths>> list() {
    if (codegen_.list.empty()) return std::nullopt;
    HALLMARK_CHECK(os::remove_tree(files_, printed_));
    HALLMARK_CHECK(os::remove_tree(files_, fresh_));
    HALLMARK_CHECK(os::make_folders(files_, fresh_));
    HALLMARK_TRY(auto text, run(codegen_.list));
    const bool to_file = std::ranges::any_of(codegen_.list, [](const manifest::Text& word) {
      return word.text.find("{list}") != std::string::npos;
    });
    if (to_file) {
      HALLMARK_TRY(const auto stat, files_.stat(printed_));
      if (!stat)
        return fail(wrong("its list command wrote no {list}", "it must write the paths there, one a line"));
      HALLMARK_TRY(text, os::read_file(files_, printed_, limits::kGeneratorListBytes));
      HALLMARK_CHECK(files_.remove(printed_));
    }
    Paths paths = lines_of(text);
    for (auto& path : paths) {
      while (path.starts_with("./")) path.erase(0, 2);
      if (path.starts_with('/')) path = path::relative_below(path, fresh_);
    }
    std::ranges::sort(paths);
    paths.erase(std::ranges::unique(paths).begin(), paths.end());
    if (paths.empty())
      return fail(wrong("it lists no files", "a filter that matches nothing builds nothing"));
    return paths;
  }

  Error wrong(std::string_view what, std::string hint) const {
    return {ErrorKind::invalid,
            formatted("{}:{}:{}: generator {}: {}", request_.manifest.file, codegen_.place.line,
                      codegen_.place.column, codegen_.name, what),
            std::move(hint)};
  }

  Status compare(const std::optional<Paths>& listed, const Paths& made) const {
    if (made.empty()) return fail(wrong("it made no files", "it must write below {out}"));
    if (made.size() > limits::kGeneratedFiles)
      return fail({ErrorKind::limit,
                   formatted("generator {} made {} files, more than {} (kGeneratedFiles)", codegen_.name,
                             made.size(), limits::kGeneratedFiles),
                   {}});
    if (!listed) return {};
    Paths missing;
    std::ranges::set_difference(*listed, made, std::back_inserter(missing));
    if (!missing.empty()) return fail(wrong("listed but not made: " + shown(missing), {}));
    Paths extra;
    std::ranges::set_difference(made, *listed, std::back_inserter(extra));
    if (!extra.empty()) return fail(wrong("made but not listed: " + shown(extra), {}));
    return {};
  }

  /// The fresh files take their places. An observed command does it, so that it is known where these bytes
  /// come from; those that were there keep their time.
  Result<Generated> settle(const Paths& made) {
    std::vector<std::pair<std::string, std::int64_t>> unchanged;
    for (const auto& path : made) {
      HALLMARK_TRY(const auto mtime_ns, time_if_equal(path));
      if (mtime_ns) unchanged.emplace_back(path, *mtime_ns);
    }
    HALLMARK_CHECK(os::make_folders(files_, settled_));
    HALLMARK_TRY(const auto removed, prune(made));
    HALLMARK_CHECK(copy(made));
    for (const auto& [path, mtime_ns] : unchanged)
      HALLMARK_CHECK(files_.touch(path::join(settled_, path), mtime_ns));

    HALLMARK_TRY(const auto state, state_of(files_, settled_, made));
    std::string text = header_of_list(state);
    for (const auto& path : made) text.append(path) += '\n';
    HALLMARK_CHECK(write_dependencies());
    // The list comes last: Ninja takes the generator for done when it is there.
    HALLMARK_CHECK(settle_text(files_, list_, text));
    return Generated{made.size(), made.size() - unchanged.size(), removed};
  }

  /// nullopt: the file that is there has other bytes, or there is none.
  Result<std::optional<std::int64_t>> time_if_equal(const std::string& path) {
    HALLMARK_TRY(const auto there, files_.lstat(path::join(settled_, path)));
    HALLMARK_TRY(const auto fresh, files_.lstat(path::join(fresh_, path)));
    if (!there || !fresh || there->kind != NodeKind::file || there->size_bytes != fresh->size_bytes)
      return std::nullopt;
    HALLMARK_TRY(const auto before,
                 os::read_file(files_, path::join(settled_, path), limits::kSettledFileBytes));
    HALLMARK_TRY(const auto after,
                 os::read_file(files_, path::join(fresh_, path), limits::kSettledFileBytes));
    return before == after ? std::optional(there->mtime_ns) : std::nullopt;
  }

  Status copy(const Paths& made) {
    const auto prefix = run_words();
    for (std::size_t i = 0; i < made.size();) {
      auto argv = prefix;
      argv.insert(argv.end(), {"--", request_.copier, "copy-files", "--into", settled_, "--"});
      for (std::size_t bytes = 0; i < made.size() && bytes < kCopyWordsBytes; ++i) {
        bytes += made[i].size() + 1;
        argv.push_back(made[i]);
      }
      HALLMARK_TRY(const auto ended, commands_.run(argv, {}, fresh_));
      if (ended.exit_code != 0)
        return fail({ErrorKind::io,
                     formatted("generator {}: its files cannot be copied to {}", codegen_.name, settled_),
                     {}});
    }
    return {};
  }

  /// All in the folder was generated: what is not made any more goes, with the folders that it leaves empty.
  Result<std::size_t> prune(const Paths& made) {
    std::size_t removed = 0;
    HALLMARK_TRY(const auto present, os::files_below(files_, settled_));
    for (const auto& path : present) {
      if (std::ranges::binary_search(made, path)) continue;
      HALLMARK_CHECK(files_.remove(path::join(settled_, path)));
      ++removed;
      for (auto folder = path::parent(path); !folder.empty(); folder = path::parent(folder)) {
        const auto above = path::join(settled_, folder);
        HALLMARK_TRY(const auto names, files_.list(above));
        if (!names.empty()) break;
        HALLMARK_CHECK(files_.remove_folder(above));
      }
    }
    return removed;
  }

  Status write_dependencies() {
    const std::vector<std::string> all(dependencies_.begin(), dependencies_.end());
    const auto text = engine::make_rule(paths::codegen_list(codegen_.name), all);
    HALLMARK_CHECK(settle_text(files_, list_ + ".d", text));
    return {};
  }

  const CodegenRequest& request_;
  const manifest::Codegen& codegen_;
  os::FileSystem& files_;
  Commands& commands_;
  std::string settled_;
  std::string fresh_;
  std::string list_;
  std::string printed_;
  std::string cwd_;
  std::set<std::string> dependencies_;
};

}  // namespace

Status copy_files(os::FileSystem& files, const std::vector<std::string>& paths, const std::string& from,
                  const std::string& into) {
  for (const auto& path : paths) {
    HALLMARK_TRY(const auto bytes, os::read_file(files, path::join(from, path), limits::kSettledFileBytes));
    const auto target = path::join(into, path);
    const std::string folder(path::parent(target));
    HALLMARK_CHECK(os::make_folders(files, folder));
    HALLMARK_TRY(const auto file, files.create_unseen(folder, os::Unseen::hidden));
    HALLMARK_CHECK(file->write(as_bytes(bytes)));
    HALLMARK_CHECK(file->finish(kFileMode));
    HALLMARK_CHECK(file->appear(target));
  }
  return {};
}

Result<Generated> run_codegen(const CodegenRequest& request, os::FileSystem& files, Commands& commands) {
  return Run(request, files, commands)();
}

Result<std::map<std::string, std::vector<std::string>>> generated_lists(
    os::FileSystem& files, const std::string& build_folder, const std::vector<std::string>& codegens) {
  std::map<std::string, std::vector<std::string>> lists;
  for (const auto& codegen : codegens) {
    const auto list = path::join(build_folder, paths::codegen_list(codegen));
    HALLMARK_TRY(const auto stat, files.lstat(list));
    if (!stat) continue;
    HALLMARK_TRY(const auto text, os::read_file(files, list, limits::kGeneratorListBytes));
    auto paths = lines_of(text);
    const std::string header = paths.empty() ? "" : paths.front() + "\n";
    if (!paths.empty()) paths.erase(paths.begin());
    const auto state = state_of(files, path::join(build_folder, paths::codegen_folder(codegen)), paths);
    if (!state.has_value() || header != header_of_list(*state)) {
      HALLMARK_CHECK(files.remove(list));
      continue;
    }
    lists.emplace(codegen, std::move(paths));
  }
  return lists;
}

}  // namespace hallmark::kernels
