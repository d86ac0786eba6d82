#include "app/prove.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "app/attested.h"
#include "app/places.h"
#include "base/limits.h"
#include "base/path.h"
#include "engine/plain_hasher.h"
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

/// Collects proofs: by the store, and where that knows nothing of an artifact, by stamp and attestation.
class Judge {
 public:
  /// `attestation`: of the one artifact that will be judged; empty: beside each.
  explicit Judge(const Session& session, Accept accept = Accept::records, std::string attestation = {})
      : session_(session),
        store_(open_store(session)),
        plain_hasher_(session.files),
        machine_(engine::this_machine(session.files, session.clock)),
        by_store_(make_by_store(accept)),
        attested_({session, hasher(), *machine_, by_store_ ? &by_store_->prover : nullptr,
                   std::move(attestation)}) {}

  void add(const std::string& artifact) { take(artifact, judge(artifact, Asked::by_name)); }

  /// A build of Ninja that may make what lies outside of its folder.
  void know_build(const std::string& folder) {
    if (by_store_) static_cast<void>(by_store_->prover.know_build(folder));
  }

  /// If it is known, or lies in the tree.
  void add_if_ours(const std::string& artifact) {
    auto proof = judge(artifact, Asked::among_others);
    if (is_known(proof) || lies_in_tree(artifact)) {
      take(artifact, std::move(proof));
    } else {
      ++result_.others;
    }
  }

  /// `bytes`: the name in /proc that leads to the mapped file itself.
  void add_mapped(const inspect::MappedFile& file, const std::string& bytes) {
    const auto stat = session_.files.stat(file.path);
    const bool same = stat.has_value() && *stat && (*stat)->inode == file.inode && !file.deleted;
    auto proof = judge(file.path, Asked::among_others, same ? std::string() : bytes);
    if (!is_known(proof) && !lies_in_tree(file.path)) {
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

  /// Without a store only what is attested can be judged: the store's Error, if nothing is.
  Result<Proofs> result() {
    const auto is_attested = [](const prove::Proof& proof) { return proof.basis != prove::Basis::record; };
    if (!by_store_ && std::none_of(result_.proofs.begin(), result_.proofs.end(), is_attested))
      return fail(store_.error());
    if (by_store_) {
      result_.steps = std::move(by_store_->prover).steps();
      static_cast<void>((*store_)->flush());  // digests of what was hashed: the next time is faster
    }
    for (auto& proof : result_.proofs) {
      if (proof.step && proof.basis == prove::Basis::attestation) *proof.step += result_.steps.size();
    }
    prove::append(result_.steps, std::move(attested_).steps());
    return std::move(result_);
  }

 private:
  struct ByStore {
    prove::StoreEvidence evidence;
    prove::Prover prover;
    ByStore(const Session& session, store::LocalStore& store, engine::Machine& machine, Accept accept)
        : evidence(store),
          prover({session.files, store.hasher(), evidence, machine, session.environment, ::getuid(),
                  accept == Accept::weaker}) {}
  };

  std::unique_ptr<ByStore> make_by_store(Accept accept) {
    if (!store_.has_value()) return nullptr;
    return std::make_unique<ByStore>(session_, **store_, *machine_, accept);
  }
  digest::ContentHasher& hasher() {
    if (store_.has_value()) return (*store_)->hasher();
    return plain_hasher_;
  }

  /// Who names an artifact wants to know; of the many files that a process loads, only some can be ours.
  enum class Asked : std::uint8_t { by_name, among_others };

  /// `bytes`: where they are read instead, if not empty.
  Result<prove::Proof> judge(const std::string& artifact, Asked asked, const std::string& bytes = {}) {
    const auto trees = trees_for(session_, artifact);
    auto proof = by_store_ ? by_store_->prover.prove(artifact, trees, bytes) : fail_without_store(artifact);
    if (proof.has_value() && is_settled(*proof)) return proof;
    const bool has_step = proof.has_value() && proof->step;
    const bool may_bear_stamp = !has_step && (asked == Asked::by_name || lies_in_tree(artifact));
    if (!may_bear_stamp && !attested_.has_attestation(artifact)) return proof;
    auto attested = attested_.prove(artifact, trees, bytes.empty() ? artifact : bytes);
    // An unknown chain of the store's, or what the build tool's own graph shows, is more than nothing.
    if (!attested || (has_step && attested->verdict == prove::Verdict::unknown)) return proof;
    return *std::move(attested);
  }

  /// Something is known of who made it, be it that it was changed since.
  static bool is_known(const Result<prove::Proof>& proof) {
    return proof.has_value() && (proof->step || proof->basis != prove::Basis::record);
  }

  /// Recorded, and known. (The store may have lost what the attestation still has, and the tree be
  /// elsewhere.)
  bool is_settled(const prove::Proof& proof) const {
    return proof.step && proof.verdict != prove::Verdict::unknown &&
           by_store_->prover.steps()[*proof.step].is_recorded;
  }

  Result<prove::Proof> fail_without_store(const std::string& artifact) const {
    return prove::Proof{
        artifact, prove::Verdict::unknown, {}, "the store cannot be used: " + store_.error().message()};
  }

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
  Result<std::unique_ptr<store::LocalStore>> store_;
  engine::PlainHasher plain_hasher_;
  std::unique_ptr<engine::Machine> machine_;
  std::unique_ptr<ByStore> by_store_;  ///< nullptr: there is no store
  Attested attested_;
  Proofs result_;
};

}  // namespace

std::string real_or_spelled(const Session& session, const std::string& spelled) {
  auto absolute = path::join(session.cwd, spelled);
  return engine::real_path(session.files, absolute).value_or(std::move(absolute));
}

Result<Proofs> prove(const Session& session, const std::vector<std::string>& artifacts, Accept accept,
                     const std::string& attestation) {
  Judge judge(session, accept, attestation.empty() ? std::string() : path::join(session.cwd, attestation));
  for (const auto& artifact : artifacts) judge.add(real_or_spelled(session, artifact));
  return judge.result();
}

Result<Proofs> prove_loaded(const Session& session, const std::vector<std::string>& files) {
  Judge judge(session);
  for (const auto& file : files) judge.add_if_ours(file);
  return judge.result();
}

Result<Proofs> prove_build(const Session& session, const std::string& folder, Accept accept) {
  const auto real = real_or_spelled(session, folder);
  HALLMARK_TRY(const auto artifacts, prove::artifacts_of_build(session.files, real));
  if (artifacts.empty())
    return fail({ErrorKind::invalid, real + " holds no artifact yet",
                 "build first: what is not there cannot be judged"});
  Judge judge(session, accept);
  judge.know_build(real);
  for (const auto& artifact : artifacts) judge.add(artifact);
  return judge.result();
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
  Judge judge(session);
  for (const auto& file : inspect::parse_process_maps(*maps)) {
    if (file.runs) judge.add_mapped(file, path::join(folder, "map_files/" + file.range));
  }
  return judge.result();
}

}  // namespace hallmark::app
