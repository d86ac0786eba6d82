#include "store/local_store.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"
#include "store/internal/action_lock.h"
#include "store/internal/blob_folder.h"
#include "store/internal/census.h"
#include "store/internal/counter_log.h"
#include "store/internal/frame_folder.h"
#include "store/internal/made_log.h"
#include "store/internal/payloads.h"
#include "store/internal/table_hasher.h"

namespace hallmark::store {
namespace {

constexpr std::string_view kFormatWords = "hallmark store ";
constexpr std::size_t kFormatBytes = 64;
/// The file in tmp/ whose mtime says when leftovers were last removed.
constexpr std::string_view kSweepMark = "swept";

std::string format_text() {
  return formatted("{}{}\n", kFormatWords, kStoreFormat);
}

/// The version that a FORMAT file names.
Result<std::uint32_t> parse_format(std::string_view text, const std::string& path) {
  const auto damaged = [&] {
    return fail({ErrorKind::corrupt, path + ": damaged",
                 "remove the store's folder; it holds nothing that cannot be made again"});
  };
  if (!text.starts_with(kFormatWords)) return damaged();
  text.remove_prefix(kFormatWords.size());
  std::uint32_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc{} || version == 0 || std::string_view(end, text.data() + text.size()) != "\n")
    return damaged();
  return version;
}

Status check_format(const std::string& text, const Layout& layout) {
  HALLMARK_TRY(const std::uint32_t version, parse_format(text, layout.at(Layout::kFormat)));
  if (version == kStoreFormat) return {};
  if (version < kStoreFormat) {
    return fail({ErrorKind::invalid,
                 formatted("the store {} has the old format {}", layout.folder(), version),
                 "remove the store's folder; it holds nothing that cannot be made again"});
  }
  return fail({ErrorKind::newer_format,
               formatted("the store {} has format {}, this hallmark knows {}", layout.folder(), version,
                         kStoreFormat),
               "use a later hallmark, or another folder through HALLMARK_STORE"});
}

/// Makes a store in a folder that is absent, empty, or was left by a maker that died.
Status make_store(os::FileSystem& files, os::Clock& clock, const Layout& layout) {
  HALLMARK_CHECK(os::make_folders(files, layout.folder()));
  HALLMARK_TRY(const auto names, files.list(layout.folder()));
  for (const std::string& name : names) {
    const bool ours = std::find(Layout::kNames.begin(), Layout::kNames.end(), name) != Layout::kNames.end() ||
                      name.starts_with(Layout::kFormat);
    if (ours) continue;
    return fail({ErrorKind::invalid,
                 formatted("{} is not empty and not a store of hallmark: it holds {}", layout.folder(), name),
                 "choose another folder through HALLMARK_STORE"});
  }
  for (const std::string_view folder : Layout::kFolders)
    HALLMARK_CHECK(os::make_folders(files, layout.at(folder)));
  // Once in the life of a store: FORMAT is the one file that no checksum and no rerun could replace.
  const std::string unique = formatted("{:x}", clock.steady_ns());
  Status written = os::write_file_atomically(files, layout.at(Layout::kFormat), format_text(), unique, true);
  if (written.has_value()) return written;
  const auto by_a_peer = files.lstat(layout.at(Layout::kFormat));
  if (by_a_peer.has_value() && by_a_peer->has_value()) return {};
  return written;
}

class FolderStore final : public LocalStore {
 public:
  FolderStore(os::FileSystem& files, os::Clock& clock, const std::string& folder, bool read_only)
      : files_(files),
        clock_(clock),
        layout_(folder),
        read_only_(read_only),
        scratch_(files, clock, layout_),
        blobs_(files, scratch_, layout_, read_only),
        weak_entries_(files, scratch_, layout_, Layout::kWeakEntries, FrameKind::weak_entry, read_only),
        records_(files, scratch_, layout_, Layout::kRecords, FrameKind::record, read_only),
        derivations_(files, scratch_, layout_, Layout::kDerivations, FrameKind::derivation, read_only),
        places_(files, scratch_, layout_, Layout::kPlaces, FrameKind::places, read_only),
        sites_(files, scratch_, layout_, Layout::kSites, FrameKind::site, read_only),
        misses_(files, scratch_, layout_, Layout::kMisses, FrameKind::last_miss, read_only),
        tests_(files, scratch_, layout_, Layout::kTests, FrameKind::tests, read_only),
        locks_(files, layout_),
        table_(files, scratch_, layout_.at(Layout::kDigestTable), read_only),
        hasher_(files, clock, table_),
        counters_(files, scratch_, layout_.at(Layout::kCounters), layout_.at(Layout::kLocks) + "/counters"),
        made_(files, scratch_, layout_.at(Layout::kMadeLog), layout_.at(Layout::kLocks) + "/made") {}

  // BlobStore
  Result<bool> contains(const digest::Digest& digest) override { return blobs_.contains(digest); }
  Result<std::optional<std::string>> read(const digest::Digest& digest, std::size_t max_bytes) override {
    return blobs_.read(digest, max_bytes);
  }
  Result<digest::Digest> put(std::string_view bytes) override { return blobs_.put(bytes); }
  Result<digest::Digest> put_file(const std::string& path) override { return blobs_.put_file(path); }
  Result<bool> restore(const digest::Digest& digest, os::UnseenFile& into, std::uint32_t mode) override {
    return blobs_.restore(digest, into, mode);
  }

  // RecordStore
  Result<std::optional<model::WeakEntry>> weak_entry(const digest::Key& weak) override {
    return load(weak_entries_, weak, model::decode_weak_entry);
  }
  Status put_weak_entry(const digest::Key& weak, const model::WeakEntry& entry) override {
    if (!model::is_well_formed(entry)) return fail({ErrorKind::invalid, "a path set that is not sorted", {}});
    return weak_entries_.replace(weak, model::encode(entry));
  }
  Result<std::optional<model::Record>> record(const digest::Key& strong) override {
    return load(records_, strong, model::decode_record);
  }
  Result<std::optional<model::Record>> put_record(const digest::Key& strong,
                                                  const model::Record& record) override;
  Status replace_record(const digest::Key& strong, const model::Record& record) override {
    return records_.replace(strong, model::encode(record));
  }

  // DerivationStore
  Result<std::optional<model::Derivation>> derivation(const digest::Key& strong) override {
    return load(derivations_, strong, model::decode_derivation);
  }
  Status put_derivation(const digest::Key& strong, const model::Derivation& derivation) override;
  Status note_made(const std::optional<digest::Key>& strong, const model::Places& places,
                   const std::vector<Made>& made) override;
  Result<std::vector<Maker>> makers_of(const digest::Digest& content,
                                       std::optional<std::uint64_t> place) override {
    return made_.makers_of(content, place);
  }
  Result<std::optional<Maker>> last_maker_at(std::uint64_t place) override {
    return made_.last_maker_at(place);
  }
  Result<bool> has_all_notes() override { return made_.has_all_notes(); }
  Result<std::optional<model::Places>> places(const digest::Key& key) override {
    return load(places_, key, model::decode_places);
  }

  // SiteHistory
  Result<std::vector<digest::Key>> recent(const digest::Key& site) override;
  Status remember(const digest::Key& site, const digest::Key& weak) override;

  // LocalStore
  bool read_only() const override { return read_only_; }
  const std::string& folder() const override { return layout_.folder(); }
  Result<std::unique_ptr<os::FileLock>> lock_action(const digest::Key& weak,
                                                    const std::function<bool(int)>& on_wait) override {
    return locks_.lock(weak, on_wait);
  }
  digest::ContentHasher& hasher() override { return hasher_; }
  Status put_last_miss(const std::string& root, const std::string& command,
                       const std::vector<model::Reason>& reasons) override;
  Result<std::vector<TestRun>> test_runs(const std::string& root) override;
  Status note_test(const std::string& root, const TestRun& run) override;
  Result<std::optional<LastMiss>> last_miss(const std::string& root) override {
    return load(misses_, key_of_root(root), decode_last_miss);
  }
  void count(const StoreCounters& delta) override {
    if (!read_only_) (void)counters_.add(delta);
  }
  Result<StoreCounters> counters() override { return counters_.sum(); }
  Result<StoreUsage> usage() override { return Census(files_, layout_).count(); }
  Result<std::vector<StoreDefect>> verify(bool repair,
                                          const std::function<void(std::uint64_t)>& progress) override;
  Status flush() override;

 private:
  template <class T>
  Result<std::optional<T>> load(FrameFolder& folder, const digest::Key& key,
                                Result<T> (*decode)(std::string_view)) {
    HALLMARK_TRY(const auto frame, folder.load(key));
    if (!frame) return std::nullopt;
    auto value = decode(frame->payload());
    if (!value.has_value()) return fail(folder.reject(key, value.error()));
    return std::move(*value);
  }

  static digest::Key key_of_root(const std::string& root) {
    return digest::Key{digest::digest_of(root).hash};
  }

  os::FileSystem& files_;
  os::Clock& clock_;
  Layout layout_;
  bool read_only_;
  Scratch scratch_;
  BlobFolder blobs_;
  FrameFolder weak_entries_;
  FrameFolder records_;
  FrameFolder derivations_;
  FrameFolder places_;
  FrameFolder sites_;
  FrameFolder misses_;
  FrameFolder tests_;
  ActionLocks locks_;
  DigestTable table_;
  TableHasher hasher_;
  CounterLog counters_;
  MadeLog made_;
};

Status FolderStore::put_derivation(const digest::Key& strong, const model::Derivation& derivation) {
  if (!model::is_well_formed(derivation))
    return fail({ErrorKind::invalid, "a path set that is not sorted", {}});
  const std::string payload = model::encode(derivation);
  HALLMARK_TRY(const bool first, derivations_.add(strong, payload));
  if (first) return {};
  const auto there = this->derivation(strong);
  if (there.has_value() && there->has_value()) return {};
  // Damaged, or gone since.
  return derivations_.replace(strong, payload);
}

Result<std::optional<model::Record>> FolderStore::put_record(const digest::Key& strong,
                                                             const model::Record& record) {
  const std::string payload = model::encode(record);
  HALLMARK_TRY(const bool first, records_.add(strong, payload));
  if (first) return std::nullopt;
  auto there = this->record(strong);
  if (there.has_value() && there->has_value()) return there;
  if (!there.has_value() && there.error().kind != ErrorKind::corrupt) return there;
  // It was damaged, or went away in between: ours is as good as any.
  HALLMARK_CHECK(records_.replace(strong, payload));
  return std::nullopt;
}

Status FolderStore::note_made(const std::optional<digest::Key>& strong, const model::Places& places,
                              const std::vector<Made>& made) {
  if (read_only_) return fail({ErrorKind::permission, layout_.folder() + ": the store is read-only", {}});
  if (made.empty()) return {};
  const std::string payload = model::encode(places);
  const digest::Key key{digest::digest_of(payload).hash};
  // Read, not only looked for: a power loss may have left it empty.
  const auto there = places_.load(key);
  if (!there.has_value() && there.error().kind != ErrorKind::corrupt) return fail(there.error());
  if (!there.has_value() || !*there) HALLMARK_CHECK(places_.add(key, payload));
  return made_.add(strong, key, made);
}

Result<std::vector<digest::Key>> FolderStore::recent(const digest::Key& site) {
  auto keys = load(sites_, site, decode_site);
  if (keys.has_value()) return keys->value_or(std::vector<digest::Key>{});
  // It only explains: a damaged one is as good as none.
  if (keys.error().kind == ErrorKind::corrupt) return std::vector<digest::Key>{};
  return fail(std::move(keys).error());
}

Status FolderStore::remember(const digest::Key& site, const digest::Key& weak) {
  HALLMARK_TRY(auto keys, recent(site));
  if (!keys.empty() && keys.front() == weak) return {};
  std::erase(keys, weak);
  keys.insert(keys.begin(), weak);
  if (keys.size() > limits::kSiteHistory) keys.resize(limits::kSiteHistory);
  return sites_.replace(site, encode_site(keys));
}

Result<std::vector<TestHistory::TestRun>> FolderStore::test_runs(const std::string& root) {
  HALLMARK_TRY(auto runs, load(tests_, key_of_root(root), decode_tests));
  return runs ? *std::move(runs) : std::vector<TestRun>();
}

Status FolderStore::note_test(const std::string& root, const TestRun& run) {
  // Another run's note must not be lost.
  HALLMARK_TRY(const auto lock, lock_action(key_of_root("tests of " + root), [](int) { return true; }));
  auto known = test_runs(root);
  std::vector<TestRun> runs = {run};
  if (known.has_value()) {
    for (auto& earlier : *known) {
      if (earlier.name != run.name && runs.size() < limits::kTestRuns) runs.push_back(std::move(earlier));
    }
  }
  return tests_.replace(key_of_root(root), encode_tests(root, runs));
}

Status FolderStore::put_last_miss(const std::string& root, const std::string& command,
                                  const std::vector<model::Reason>& reasons) {
  LastMiss miss{command, clock_.now_ns(), reasons};
  if (miss.reasons.size() > limits::kReasonsPerDecision) miss.reasons.resize(limits::kReasonsPerDecision);
  return misses_.replace(key_of_root(root), encode_last_miss(root, miss));
}

Result<std::vector<StoreDefect>> FolderStore::verify(bool repair,
                                                     const std::function<void(std::uint64_t)>& progress) {
  repair = repair && !read_only_;
  HALLMARK_TRY(auto defects, Census(files_, layout_).check(repair, progress));
  DigestTable table(files_, scratch_, layout_.at(Layout::kDigestTable), read_only_);
  HALLMARK_TRY(const std::uint64_t damaged, table.count_damaged(repair));
  if (damaged > 0) {
    defects.push_back({layout_.at(Layout::kDigestTable), formatted("{} damaged entries", damaged)});
  }
  HALLMARK_TRY(const std::uint64_t strange, made_.count_damaged(repair));
  if (strange > 0) defects.push_back({layout_.at(Layout::kMadeLog), formatted("{} damaged bytes", strange)});
  if (repair) {
    (void)scratch_.sweep();
    (void)locks_.sweep();
  }
  return defects;
}

Status FolderStore::flush() {
  if (read_only_) return {};
  HALLMARK_CHECK(hasher_.flush());
  const std::string mark = path::join(layout_.at(Layout::kTemporaries), kSweepMark);
  HALLMARK_TRY(const auto swept, files_.lstat(mark));
  const std::int64_t now_ns = clock_.now_ns();
  if (swept && now_ns - swept->mtime_ns < limits::kStoreSweep_ns) return {};
  if (swept) {
    HALLMARK_CHECK(files_.touch(mark, now_ns));
  } else if (const auto made = files_.append(mark, 0666); made.has_value()) {
    HALLMARK_CHECK((*made)->close());
    return {};  // a new store
  }
  HALLMARK_CHECK(scratch_.sweep());
  return locks_.sweep();
}

}  // namespace

Result<std::unique_ptr<LocalStore>> LocalStore::open(os::FileSystem& files, os::Clock& clock,
                                                     const std::string& folder) {
  const Layout layout(folder);
  const std::string format_path = layout.at(Layout::kFormat);
  auto format = os::read_file(files, format_path, kFormatBytes);
  if (!format.has_value() && format.error().kind == ErrorKind::not_found) {
    HALLMARK_CHECK(make_store(files, clock, layout));
    format = os::read_file(files, format_path, kFormatBytes);
  }
  if (!format.has_value() && format.error().kind != ErrorKind::limit) return fail(std::move(format).error());
  HALLMARK_CHECK(check_format(format.value_or(std::string{}), layout));
  HALLMARK_TRY(const bool writable, files.is_writable_folder(layout.folder()));
  return std::make_unique<FolderStore>(files, clock, folder, !writable);
}

}  // namespace hallmark::store
