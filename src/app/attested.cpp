#include "app/attested.h"

#include <unistd.h>

#include <algorithm>

#include "base/limits.h"
#include "base/path.h"

namespace hallmark::app {
namespace {

using prove::Basis;
using prove::Proof;
using prove::Verdict;

/// Of a file whose bytes are not those that were made: whether its stamp binds all that its code does.
bool binds_code(const inspect::Stamped& stamped) {
  return !stamped.is_relocatable && !stamped.now.empty();
}

constexpr const char* kNotBound =
    "its bytes changed since it was stamped, and of a file of this kind the stamp binds too little: what the "
    "code of an object calls stands in relocations, which strip rewrites";

Proof as_unknown(Proof proof, std::string why) {
  proof.verdict = Verdict::unknown;
  proof.step.reset();
  proof.doubt = std::move(why);
  return proof;
}

}  // namespace

std::string Attested::attestation_of(const std::string& artifact) const {
  return tools_.attestation.empty() ? artifact + std::string(kAttestationSuffix) : tools_.attestation;
}

bool Attested::has_attestation(const std::string& artifact) const {
  const auto stat = tools_.session.files.stat(attestation_of(artifact));
  return stat.has_value() && stat->has_value();
}

std::optional<Proof> Attested::prove(const std::string& artifact, const prove::Trees& trees,
                                     const std::string& path) {
  const auto bytes = os::read_file(tools_.session.files, path, limits::kBlobBytes);
  if (!bytes.has_value()) return std::nullopt;
  Proof proof;
  proof.artifact = artifact;
  proof.basis = Basis::stamp;
  const auto stamped = inspect::read_stamp(*bytes);
  if (!stamped.has_value()) return as_unknown(std::move(proof), stamped.error().message());
  if (*stamped) {
    if (const auto difference = difference_from_stamp(**stamped)) {
      proof.verdict = Verdict::stale;
      proof.doubt = "its code is not what was stamped: " + *difference;
      return proof;
    }
    proof = by_store(proof, trees, **stamped);
    if (proof.step && proof.verdict != Verdict::unknown) return proof;
  } else if (!has_attestation(artifact)) {
    return std::nullopt;
  }
  auto judged = by_attestation(artifact, trees, *bytes, *stamped);
  if (judged.has_value()) return *std::move(judged);
  // Others attest, too.
  if (!*stamped && judged.error().kind == ErrorKind::unsupported) return std::nullopt;
  if (proof.step || !proof.doubt.empty()) return proof;
  return as_unknown(std::move(proof), judged.error().message());
}

/// As of the run that the stamp names, if the store knows it.
Proof Attested::by_store(const Proof& asked, const prove::Trees& trees, const inspect::Stamped& stamped) {
  if (tools_.by_store == nullptr) return asked;
  auto known = tools_.by_store->prove_run(asked.artifact, stamped.stamp.strong, trees);
  known.basis = Basis::stamp;
  if (!known.step) return asked;
  if (known.verdict == Verdict::fresh && !binds_code(stamped)) return as_unknown(std::move(known), kNotBound);
  return known;
}

Result<Proof> Attested::by_attestation(const std::string& artifact, const prove::Trees& trees,
                                       std::string_view bytes,
                                       const std::optional<inspect::Stamped>& stamped) {
  const auto place = attestation_of(artifact);
  const auto text = os::read_file(tools_.session.files, place, kAttestationBytes);
  if (!text.has_value() && text.error().kind == ErrorKind::not_found)
    return fail(
        {ErrorKind::not_found,
         "it bears a stamp, but the store does not know the run that made it, and there is no attestation " +
             place,
         "copy the artifact with its attestation"});
  if (!text.has_value()) return fail(text.error());
  auto attestation = parse_attestation(*text);
  if (!attestation.has_value()) {
    attestation.error().what += ": " + place;
    return fail(attestation.error());
  }
  const auto& chain = attestation->chain;
  const auto& own = chain.steps.front();
  if (stamped &&
      (stamped->stamp.strong != own.strong || stamped->stamp.inputs != prove::inputs_key(own.derivation)))
    return fail(
        {ErrorKind::invalid, "it was stamped by another run than the one that " + place + " speaks of", {}});
  const bool same = digest::digest_of(bytes).hash == attestation->content;
  if (!same && !stamped)
    return fail(
        {ErrorKind::invalid,
         "its bytes are not those that " + place + " speaks of: changed since, or made by another run",
         {}});

  HALLMARK_TRY(const auto root, tree_of(chain, trees));
  prove::ChainEvidence evidence(chain, root);
  const auto& session = tools_.session;
  prove::Prover prover(
      {session.files, tools_.hasher, evidence, tools_.machine, session.environment, ::getuid()});
  auto proof = prover.prove_run(artifact, own.strong, {});
  proof.basis = Basis::attestation;
  if (proof.step) *proof.step += steps_.size();
  append(steps_, std::move(prover).steps());
  if (!same && proof.verdict != Verdict::stale && !binds_code(*stamped))
    return as_unknown(std::move(proof), kNotBound);
  return proof;
}

/// The tree that is asked for; else that around the artifact or that of the working folder, if it holds any
/// of the sources: the one with more of them.
Result<std::string> Attested::tree_of(const prove::Chain& chain, const prove::Trees& trees) const {
  if (trees.only) return *trees.only;
  const auto sources = sources_in_tree(chain);
  const auto exists_in = [&](const std::string& root, const std::string& source) {
    const auto stat = tools_.session.files.stat(path::join(root, source));
    return stat.has_value() && stat->has_value();
  };
  const auto& of_session = tools_.session.settings.root.value;
  if (sources.empty()) return of_session;
  const auto holds_any = [&](const std::string& root) {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const auto& source) { return exists_in(root, source); });
  };
  const auto count_in = [&](const std::string& root) {
    return std::count_if(sources.begin(), sources.end(),
                         [&](const auto& source) { return exists_in(root, source); });
  };
  const bool is_around = trees.around && *trees.around != of_session && holds_any(*trees.around);
  const bool is_here = holds_any(of_session);
  if (is_around && (!is_here || count_in(*trees.around) >= count_in(of_session))) return *trees.around;
  if (is_here) return of_session;
  return fail({ErrorKind::not_found,
               "none of its sources is in the tree around it or around the working folder",
               "name the tree with --root"});
}

}  // namespace hallmark::app
