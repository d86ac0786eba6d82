#include "app/prove.h"

#include "app/places.h"
#include "base/path.h"
#include "engine/ports.h"
#include "engine/program_search.h"
#include "prove/prover.h"

namespace hallmark::app {
namespace {

prove::Trees trees_for(const Session& session, const std::string& artifact) {
  const auto& root = session.settings.root;
  if (root.origin == Origin::flag || root.origin == Origin::environment) return {root.value, {}};
  prove::Trees trees;
  for (const auto& folder : {std::string(path::parent(artifact)), session.cwd}) {
    auto tree = find_marked_root(session.files, folder);
    if (tree && (trees.more.empty() || trees.more.front() != *tree)) trees.more.push_back(*std::move(tree));
  }
  return trees;
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

}  // namespace

std::string real_or_spelled(const Session& session, const std::string& spelled) {
  auto absolute = path::join(session.cwd, spelled);
  return engine::real_path(session.files, absolute).value_or(std::move(absolute));
}

Result<Proofs> prove(const Session& session, const std::vector<std::string>& artifacts) {
  HALLMARK_TRY(const auto store, open_store(session));
  const auto machine = engine::this_machine(session.files, session.clock);
  prove::Prover prover({session.files, *store, *machine, session.environment});
  Proofs result;
  for (const auto& artifact : artifacts) {
    const auto real = real_or_spelled(session, artifact);
    auto proof = prover.prove(real, trees_for(session, real));
    if (!proof.has_value())
      proof = prove::Proof{real, prove::Verdict::unknown, std::nullopt, why_unread(proof.error())};
    result.proofs.push_back(*std::move(proof));
  }
  result.steps = prover.steps();
  static_cast<void>(store->flush());  // digests of what was hashed: the next time is faster
  return result;
}

}  // namespace hallmark::app
