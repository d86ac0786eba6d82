#include "store/internal/payloads.h"

#include "base/limits.h"

namespace hallmark::store {
namespace {

Error malformed(std::string_view what) {
  return Error{ErrorKind::corrupt, std::string(what) + " is malformed", {}};
}

}  // namespace

std::vector<digest::Digest> blobs_of(const model::Record& record) {
  std::vector<digest::Digest> digests;
  for (const model::RecordedOutput& output : record.outputs) {
    if (output.kind == NodeKind::file) digests.push_back(output.content);
  }
  if (record.out) digests.push_back(*record.out);
  if (record.err) digests.push_back(*record.err);
  return digests;
}

std::string encode_site(const std::vector<digest::Key>& weak_keys) {
  digest::Encoder out;
  out.number(weak_keys.size());
  for (const digest::Key& key : weak_keys) out.hash(key.hash);
  return out.take();
}

Result<std::vector<digest::Key>> decode_site(std::string_view payload) {
  digest::Decoder in(payload);
  std::vector<digest::Key> keys;
  const std::size_t count = in.count(sizeof(digest::Sha256));
  if (count > limits::kSiteHistory) in.reject();
  for (std::size_t i = 0; i < count && in.ok(); ++i) keys.push_back({in.hash()});
  if (!in.finished()) return fail(malformed("site history"));
  return keys;
}

std::string encode_last_miss(const std::string& root, const LocalStore::LastMiss& miss) {
  digest::Encoder out;
  out.text(root).text(miss.command).signed_number(miss.at_ns).number(miss.reasons.size());
  for (const model::Reason& reason : miss.reasons) encode(out, reason);
  return out.take();
}

Result<LocalStore::LastMiss> decode_last_miss(std::string_view payload) {
  digest::Decoder in(payload);
  LocalStore::LastMiss miss;
  in.text();  // the root: for a person who looks at the file
  miss.command = in.text();
  miss.at_ns = in.signed_number();
  constexpr std::size_t kSmallestReasonBytes = 4;
  const std::size_t count = in.count(kSmallestReasonBytes);
  for (std::size_t i = 0; i < count && in.ok(); ++i) miss.reasons.push_back(model::decode_reason(in));
  if (!in.finished()) return fail(malformed("last miss"));
  return miss;
}

std::string encode_tests(const std::string& root, const std::vector<TestHistory::TestRun>& runs) {
  digest::Encoder out;
  out.text(root).number(runs.size());
  for (const auto& run : runs) {
    out.text(run.name).signed_number(run.at_ns).number(run.loaded.size());
    for (const auto& path : run.loaded) out.text(path);
  }
  return out.take();
}

Result<std::vector<TestHistory::TestRun>> decode_tests(std::string_view payload) {
  digest::Decoder in(payload);
  in.text();  // the root: for a person who looks at the file
  std::vector<TestHistory::TestRun> runs;
  constexpr std::size_t kSmallestRunBytes = 3;
  const std::size_t count = in.count(kSmallestRunBytes);
  if (count > limits::kTestRuns) in.reject();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    TestHistory::TestRun run;
    run.name = in.text();
    run.at_ns = in.signed_number();
    const std::size_t loaded = in.count(1);
    for (std::size_t j = 0; j < loaded && in.ok(); ++j) run.loaded.emplace_back(in.text());
    runs.push_back(std::move(run));
  }
  if (!in.finished()) return fail(malformed("list of test runs"));
  return runs;
}

}  // namespace hallmark::store
