#include "app/prove.h"

#include <unistd.h>

#include <memory>

#include "app/places.h"
#include "base/limits.h"
#include "base/path.h"
#include "engine/ports.h"
#include "engine/program_search.h"
#include "inspect/process_maps.h"
#include "prove/artifacts.h"
#include "prove/prover.h"

namespace hallmark::app {
namespace {

prove::Trees trees_for(const Session& session, const std::string& artifact) {
  const auto& root = session.settings.root;
  if (root.origin == Origin::flag || root.origin == Origin::environment) return {root.value, {}};
  return {{}, find_marked_root(session.files, path::parent(artifact))};
}

std::string why_unread(const Error& error) {
  switch (error.kind) {
    case ErrorKind::not_found:
      return "there is no such file";
    case ErrorKind::invalid:
      return "it is no regular file";
    default:
      return error.message();
  }
}

/// Collects proofs of one Prover.
class Judge {
 public:
  static Result<std::unique_ptr<Judge>> open(const Session& session, Accept accept = Accept::records) {
    HALLMARK_TRY(auto store, open_store(session));
    return std::unique_ptr<Judge>(new Judge(session, std::move(store), accept));
  }

  void add(const std::string& artifact) {
    take(artifact, prover_.prove(artifact, trees_for(session_, artifact)));
  }

  /// If it is known, or lies in the tree.
  void add_if_ours(const std::string& artifact) {
    auto proof = prover_.prove(artifact, trees_for(session_, artifact));
    if ((proof.has_value() && proof->step) || lies_in_tree(artifact)) {
      take(artifact, std::move(proof));
    } else {
      ++result_.others;
    }
  }

  /// `bytes`: the name in /proc that leads to the mapped file itself.
  void add_mapped(const inspect::MappedFile& file, const std::string& bytes) {
    const auto trees = trees_for(session_, file.path);
    const auto stat = session_.files.stat(file.path);
    const bool same = stat.has_value() && *stat && (*stat)->inode == file.inode && !file.deleted;
    auto proof = prover_.prove(file.path, trees, same ? std::string() : bytes);
    const bool known = proof.has_value() && proof->step;
    if (!known && !lies_in_tree(file.path)) {
      ++result_.others;
      return;
    }
    if (!proof.has_value() && !same) {
      proof = prove::Proof{
          file.path, prove::Verdict::unknown, std::nullopt,
          "the process runs a file that was removed or replaced since, and its bytes cannot be read"};
    }
    take(file.path, std::move(proof));
  }

  Proofs result() {
    result_.steps = std::move(prover_).steps();
    static_cast<void>(store_->flush());  // digests of what was hashed: the next time is faster
    return std::move(result_);
  }

 private:
  Judge(const Session& session, std::unique_ptr<store::LocalStore> store, Accept accept)
      : session_(session),
        store_(std::move(store)),
        machine_(engine::this_machine(session.files, session.clock)),
        evidence_(*store_),
        prover_({session.files, store_->hasher(), evidence_, *machine_, session.environment, ::getuid(),
                 accept == Accept::weaker}) {}

  /// Not in any tree: an interpreter may lie in a checkout of its own.
  bool lies_in_tree(const std::string& file) const {
    const auto& root = session_.settings.root.value;
    return root != "/" && path::is_within(file, root);
  }

  void take(const std::string& artifact, Result<prove::Proof> proof) {
    if (!proof.has_value())
      proof = prove::Proof{artifact, prove::Verdict::unknown, std::nullopt, why_unread(proof.error())};
    result_.proofs.push_back(*std::move(proof));
  }

  const Session& session_;
  std::unique_ptr<store::LocalStore> store_;
  std::unique_ptr<engine::Machine> machine_;
  prove::StoreEvidence evidence_;
  prove::Prover prover_;
  Proofs result_;
};

}  // namespace

std::string real_or_spelled(const Session& session, const std::string& spelled) {
  auto absolute = path::join(session.cwd, spelled);
  return engine::real_path(session.files, absolute).value_or(std::move(absolute));
}

Result<Proofs> prove(const Session& session, const std::vector<std::string>& artifacts, Accept accept) {
  HALLMARK_TRY(auto judge, Judge::open(session, accept));
  for (const auto& artifact : artifacts) judge->add(real_or_spelled(session, artifact));
  return judge->result();
}

Result<Proofs> prove_loaded(const Session& session, const std::vector<std::string>& files) {
  HALLMARK_TRY(auto judge, Judge::open(session));
  for (const auto& file : files) judge->add_if_ours(file);
  return judge->result();
}

Result<Proofs> prove_build(const Session& session, const std::string& folder, Accept accept) {
  const auto real = real_or_spelled(session, folder);
  HALLMARK_TRY(const auto artifacts, prove::artifacts_of_build(session.files, real));
  if (artifacts.empty())
    return fail({ErrorKind::invalid, real + " holds no artifact yet",
                 "build first: what is not there cannot be judged"});
  HALLMARK_TRY(auto judge, Judge::open(session, accept));
  for (const auto& artifact : artifacts) judge->add(artifact);
  return judge->result();
}

Result<Proofs> prove_process(const Session& session, int process, const std::string& proc) {
  const auto folder = path::join(proc, std::to_string(process));
  const auto maps = os::read_file(session.files, path::join(folder, "maps"), limits::kProcessMapsBytes);
  if (!maps.has_value()) {
    const auto kind = maps.error().kind;
    const auto number = std::to_string(process);
    if (kind == ErrorKind::not_found) return fail({kind, "there is no process " + number, {}});
    return fail({kind, "the files of process " + number + " cannot be read: " + maps.error().what,
                 "only its owner and root may look into a process"});
  }
  HALLMARK_TRY(auto judge, Judge::open(session));
  for (const auto& file : inspect::parse_process_maps(*maps)) {
    if (file.runs) judge->add_mapped(file, path::join(folder, "map_files/" + file.range));
  }
  return judge->result();
}

}  // namespace hallmark::app
