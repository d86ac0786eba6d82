#include "app/run_stamped.h"

#include <unistd.h>

#include "app/attestation.h"
#include "base/path.h"
#include "engine/ports.h"
#include "inspect/stamp.h"
#include "prove/artifacts.h"
#include "prove/prover.h"

namespace hallmark::app {
namespace {

class Stamper final : public engine::Finisher {
 public:
  std::string_view name() const override { return "--stamp=1"; }
  Result<std::optional<std::string>> finish(std::string_view output, const digest::Key& strong,
                                            const model::Derivation& derivation) override {
    auto stamped = inspect::stamped(output, strong, prove::inputs_key(derivation));
    // Archives, device code, texts: the attestation alone speaks of them.
    if (!stamped.has_value()) return std::nullopt;
    return *std::move(stamped);
  }
  std::string_view companion_suffix() const override { return kAttestationSuffix; }
};

/// Writes the attestations of one run.
class Attester {
 public:
  Attester(const Session& session, store::LocalStore& store)
      : session_(session),
        store_(store),
        machine_(engine::this_machine(session.files, session.clock)),
        evidence_(store),
        prover_({session.files, store.hasher(), evidence_, *machine_, session.environment, ::getuid()}) {}

  Status attest(const std::string& artifact) {
    HALLMARK_TRY(const auto hashed, store_.hasher().hash(artifact));
    HALLMARK_TRY(const auto proof, prover_.prove(artifact, {}));
    HALLMARK_TRY(auto chain, prove::chain_of(prover_.steps(), proof, hashed.digest, evidence_));
    HALLMARK_TRY(const auto text,
                 to_json({std::string(path::base_name(artifact)), hashed.digest.hash, std::move(chain)}));
    return put(artifact + std::string(kAttestationSuffix), text);
  }

 private:
  static constexpr std::uint32_t kMode = 0644;

  /// One that says the same keeps its time.
  Status put(const std::string& path, const std::string& text) {
    HALLMARK_TRY(const auto stat, session_.files.lstat(path));
    if (stat && stat->kind != NodeKind::file)
      return fail({ErrorKind::invalid, path + " is in the way: it is no regular file", "remove it"});
    const auto there = os::read_file(session_.files, path, kAttestationBytes);
    if (there.has_value() && *there == text) return {};
    HALLMARK_TRY(const auto file,
                 session_.files.create_unseen(std::string(path::parent(path)), os::Unseen::nameless));
    HALLMARK_CHECK(file->write(as_bytes(text)));
    HALLMARK_CHECK(file->finish(kMode));
    return file->appear(path);
  }

  const Session& session_;
  store::LocalStore& store_;
  std::unique_ptr<engine::Machine> machine_;
  prove::StoreEvidence evidence_;
  prove::Prover prover_;
};

std::string why_not_recorded(const engine::RunResult& result) {
  if (result.reasons.empty()) return "the run was not recorded";
  // The look-up's reasons come first, those against recording last.
  const bool looked_up = result.outcome != engine::Outcome::uncacheable;
  return model::sentence(looked_up ? result.reasons.back() : result.reasons.front());
}

Status attest_all(const Session& session, const engine::RunResult& result,
                  std::vector<std::string>& warnings) {
  HALLMARK_TRY(const auto store, open_store(session));
  Attester attester(session, *store);
  for (const auto& file : result.files) {
    if (!prove::has_artifact_bytes(session.files, file)) continue;
    if (const auto done = attester.attest(file); !done.has_value())
      warnings.push_back("no attestation of " + file + ": " + done.error().message());
  }
  return store->flush();
}

}  // namespace

Result<engine::RunResult> run_stamped(const Session& session, const RunRequest& request) {
  Stamper stamper;
  RunRequest stamping = request;
  stamping.finisher = &stamper;
  HALLMARK_TRY(auto result, run(session, stamping));
  if (result.outcome == engine::Outcome::failed) return result;
  if (!result.strong_key) {
    result.warnings.push_back("not stamped: " + why_not_recorded(result));
    return result;
  }
  if (const auto done = attest_all(session, result, result.warnings); !done.has_value())
    result.warnings.push_back("no attestation was written: " + done.error().message());
  return result;
}

}  // namespace hallmark::app
