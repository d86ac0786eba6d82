// A store in memory and a result to publish in it, for the tests of room store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/path.h"
#include "store/local_store.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"
#include "support/fault_file_system.h"

namespace hallmark::test {

inline constexpr const char* kStore = "/store";

inline digest::Key key_of(const std::string& text) {
  return digest::Key{digest::digest_of(text).hash};
}

/// Puts a blob's bytes in the place of whatever is under `path`, as a replay does.
inline Result<bool> restore_to(store::BlobStore& blobs, os::FileSystem& files, const digest::Digest& digest,
                               const std::string& path, std::uint32_t mode) {
  HALLMARK_TRY(const auto file, files.create_unseen(std::string(path::parent(path)), os::Unseen::hidden));
  HALLMARK_TRY(const bool found, blobs.restore(digest, *file, mode));
  if (found) HALLMARK_CHECK(file->appear(path));
  return found;
}

/// One result of an action, all of it derived from a name.
struct Sample {
  explicit Sample(const std::string& name, std::size_t large_bytes = (1u << 20) + 17)
      : weak(key_of("weak " + name)),
        site(key_of("site " + name)),
        small("object code of " + name),
        large(large_bytes, name.back()),
        out("warning in " + name + "\n") {
    entry.command.argv = {"g++", "-c", name};
    entry.command.cwd = "\x01root\x02";
    entry.sets.push_back(
        {{{{model::Aspect::content, "a.h"}, {model::Aspect::content, "src/" + name}}}, {"1", "2"}});
    strong = model::strong_key(weak, entry.sets[0].paths, entry.sets[0].answers);
    record.weak_key = weak;
    record.outputs.push_back(
        {"\x01root\x02/a.o", NodeKind::file, 0644, model::OutputRole::plain, digest::digest_of(small), ""});
    record.outputs.push_back(
        {"\x01root\x02/b.o", NodeKind::file, 0755, model::OutputRole::plain, digest::digest_of(large), ""});
    record.out = digest::digest_of(out);
    record.tier = model::Tier::hybrid;
    record.created_ns = 5;
    derivation = {weak, entry.command, entry.sets[0].paths, entry.sets[0].answers};
  }

  /// All that the engine does after a run. Stops at the first failure.
  Status publish(store::LocalStore& store, os::FileSystem& files, const std::string& scratch_file) const {
    HALLMARK_TRY(const auto lock, store.lock_action(weak, nullptr));
    HALLMARK_CHECK(store.put(small));
    (void)files.remove(scratch_file);
    HALLMARK_TRY(const auto file, files.create(scratch_file, 0644));
    HALLMARK_CHECK(file->write(as_bytes(large)));
    HALLMARK_CHECK(file->close());
    HALLMARK_CHECK(store.put_file(scratch_file));
    HALLMARK_CHECK(store.put(out));
    HALLMARK_CHECK(store.put_derivation(strong, derivation));
    HALLMARK_CHECK(store.note_made(strong, places, made()));
    HALLMARK_CHECK(store.put_record(strong, record));
    HALLMARK_CHECK(store.put_weak_entry(weak, entry));
    HALLMARK_CHECK(store.remember(site, weak));
    HALLMARK_CHECK(store.put_last_miss("/root", "g++ -c", {{model::ReasonCode::first_run, "", "", ""}}));
    store.count({0, 1, 0, 0, 0, 0});
    return store.flush();
  }

  /// Looks everything up as a replay would. True: all there and right. False: something is absent or was
  /// found damaged. Anything that is found and wrong is a test failure.
  bool replay(store::LocalStore& store, os::FileSystem& files, const std::string& folder) const {
    const auto entry_found = store.weak_entry(weak);
    const auto record_found = store.record(strong);
    const auto derivation_found = store.derivation(strong);
    const auto makers = store.makers_of(digest::digest_of(small), store::place_of("/tree/a.o"));
    bool whole = true;
    const auto seen = [&](const auto& result, const auto& expected) {
      if (!result.has_value() || !result->has_value()) {
        whole = false;
        return false;
      }
      EXPECT_TRUE(**result == expected) << "found, and not what was stored";
      return true;
    };
    seen(entry_found, entry);
    seen(derivation_found, derivation);
    if (!makers.has_value() || makers->empty()) {
      whole = false;
    } else {
      EXPECT_EQ(makers->front().strong, strong);
      seen(store.places(makers->front().places), places);
    }
    if (!seen(record_found, record)) return false;
    const auto restored = [&](const std::string& expected, const std::string& path) {
      (void)files.remove(path);
      const auto done = restore_to(store, files, digest::digest_of(expected), path, 0640);
      if (!done.has_value() || !*done) {
        EXPECT_FALSE(files.lstat(path).value().has_value()) << "a failed restore left a file";
        whole = false;
        return;
      }
      const auto bytes = os::read_file(files, path, 1 << 28);
      EXPECT_TRUE(!bytes.has_value() || *bytes == expected) << "restored, and not what was stored";
      EXPECT_EQ(files.lstat(path).value()->mode, 0640u);
    };
    restored(small, folder + "/restored-small");
    restored(large, folder + "/restored-large");
    const auto text = store.read(digest::digest_of(out), 1 << 20);
    seen(text, out);
    return whole;
  }

  std::vector<store::DerivationStore::Made> made() const {
    std::vector<store::DerivationStore::Made> files;
    for (const auto& output : record.outputs)
      files.push_back({output.content, "/tree/" + std::string(path::base_name(output.path))});
    return files;
  }

  digest::Key weak;
  digest::Key strong;
  digest::Key site;
  std::string small;
  std::string large;  // beyond the size that goes through memory in one piece
  std::string out;
  model::WeakEntry entry;
  model::Record record;
  model::Derivation derivation;
  model::Places places = {{"root", "/tree"}, {"PATH", "/usr/bin"}};
};

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() { (void)disk_.make_folder("/w", 0755); }

  std::unique_ptr<store::LocalStore> open() {
    clock_.advance_ms(1);  // as between any two processes
    auto store = store::LocalStore::open(files_, clock_, kStore);
    EXPECT_TRUE(store.has_value()) << (store.has_value() ? "" : store.error().message());
    return store.has_value() ? std::move(*store) : nullptr;
  }
  bool replays(const Sample& sample) {
    const auto store = open();
    return sample.replay(*store, files_, "/w");
  }
  Status publish(store::LocalStore& store, const Sample& sample) {
    return sample.publish(store, files_, "/w/large");
  }
  std::vector<store::StoreDefect> defects(bool repair = false) {
    return open()->verify(repair, nullptr).value();
  }

  FakeClock clock_;
  FakeFileSystem disk_{clock_};
  FaultFileSystem files_{disk_};
};

}  // namespace hallmark::test
