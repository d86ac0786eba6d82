// The ring with producers that behave like the agent: the same steps, in threads and in processes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <thread>

#include "observe/internal/ring_reader.h"

namespace hallmark::observe {
namespace {

constexpr std::uint64_t kMask = ring::kRecordsBytes - 1;

/// Does what src/observe/agent/hook.cpp does, in portable words.
class Producer {
 public:
  explicit Producer(ring::FirstPage& page)
      : page_(page), ring_(reinterpret_cast<unsigned char*>(&page) + ring::kRecordsOffset) {}

  void begin() { page_.header.started.fetch_add(1); }
  void end() { page_.header.finished.fetch_add(1); }

  /// Room for a record, spinning while the ring is full; null if it is closed.
  ring::Record* take_room(std::size_t bytes) {
    std::uint64_t head = page_.header.head.load();
    for (;;) {
      if (page_.header.closed.load() != 0) return nullptr;
      const std::uint64_t to_end = ring::kRecordsBytes - (head & kMask);
      const std::uint64_t filler = to_end < bytes ? to_end : 0;
      if (head + filler + bytes - page_.header.tail.load() > ring::kRecordsBytes) {
        std::this_thread::yield();
        head = page_.header.head.load();
        continue;
      }
      if (!page_.header.head.compare_exchange_weak(head, head + filler + bytes)) continue;
      if (filler != 0) {
        auto* room = reinterpret_cast<ring::Record*>(ring_ + (head & kMask));
        room->image = ring::kFiller;
        room->bytes.store(static_cast<std::uint32_t>(filler), std::memory_order_release);
      }
      return reinterpret_cast<ring::Record*>(ring_ + ((head + filler) & kMask));
    }
  }

  static std::size_t bytes_of(std::string_view path, bool has_stat) {
    return ring::padded(sizeof(ring::Record) + (has_stat ? sizeof(ring::SharedStat) : 0) + path.size());
  }

  static void fill(ring::Record* record, std::uint32_t image, std::string_view path,
                   const ring::SharedStat* stat) {
    record->image = image;
    record->result = 0;
    record->path_bytes = static_cast<std::uint16_t>(path.size());
    record->access = static_cast<std::uint8_t>(Access::look);
    record->bits = static_cast<std::uint8_t>(ring::kFollow | (stat != nullptr ? ring::kHasStat : 0));
    record->flags = path.size();
    auto* next = reinterpret_cast<unsigned char*>(record + 1);
    if (stat != nullptr) {
      std::memcpy(next, stat, sizeof(*stat));
      next += sizeof(*stat);
    }
    std::memcpy(next, path.data(), path.size());
    record->bytes.store(static_cast<std::uint32_t>(bytes_of(path, stat != nullptr)),
                        std::memory_order_release);
  }

  bool write(std::uint32_t image, std::string_view path, const ring::SharedStat* stat = nullptr) {
    begin();
    ring::Record* room = take_room(bytes_of(path, stat != nullptr));
    if (room != nullptr) fill(room, image, path, stat);
    end();
    return room != nullptr;
  }

 private:
  ring::FirstPage& page_;
  unsigned char* ring_;
};

struct Seen {
  std::uint32_t image;
  std::string path;
  std::optional<FileStat> stat;
};

struct Collector : RingConsumer {
  std::vector<Seen> seen;
  void on_record(const RingRecord& record) override {
    EXPECT_EQ(record.flags, record.path.size());
    seen.push_back({record.image, std::string(record.path), record.stat});
  }
};

std::string path_of(std::uint32_t image, std::uint32_t number, std::size_t length) {
  std::string path = "/" + std::to_string(image) + "/" + std::to_string(number) + "/";
  if (path.size() < length) path.append(length - path.size(), 'x');
  return path;
}

/// Length of a path, spread over what a ring sees, the same for producer and check.
std::size_t length_of(std::uint32_t image, std::uint32_t number) {
  const std::uint32_t mixed = (image * 2654435761u + number * 40503u) >> 8;
  return mixed % 16 == 0 ? 1 + mixed % (2 * limits::kPathBytes) : 1 + mixed % 120;
}

void produce(ring::FirstPage& page, std::uint32_t image, std::uint32_t count) {
  Producer producer(page);
  for (std::uint32_t i = 0; i < count; ++i) {
    ring::SharedStat stat;
    stat.inode = i;
    stat.size_bytes = image;
    stat.mode = S_IFREG | 0640;
    producer.write(image, path_of(image, i, length_of(image, i)), i % 3 == 0 ? &stat : nullptr);
  }
}

/// Everything arrived, whole, in the order of each producer.
void check(const std::vector<Seen>& seen, std::uint32_t producers, std::uint32_t count) {
  ASSERT_EQ(seen.size(), std::size_t{producers} * count);
  std::map<std::uint32_t, std::uint32_t> next;
  for (const Seen& one : seen) {
    const std::uint32_t number = next[one.image]++;
    ASSERT_EQ(one.path, path_of(one.image, number, length_of(one.image, number)));
    ASSERT_EQ(one.stat.has_value(), number % 3 == 0);
    if (!one.stat) continue;
    ASSERT_EQ(one.stat->inode, number);
    ASSERT_EQ(one.stat->size_bytes, one.image);
    ASSERT_EQ(one.stat->mode, 0640u);
    ASSERT_EQ(one.stat->kind, NodeKind::file);
  }
}

TEST(Ring, HandsOutWhatThreadsWroteInEachThreadsOrder) {
  auto ring = RingReader::create().value();
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kCount = 30'000;  // several times the ring
  Collector collector;
  std::atomic<std::uint32_t> running{kThreads};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      produce(ring->page(), i, kCount);
      --running;
    });
  }
  while (running != 0) ring->drain(collector);
  for (std::thread& thread : threads) thread.join();
  ring->drain(collector);
  check(collector.seen, kThreads, kCount);
  EXPECT_EQ(ring->lost(), 0u);
  EXPECT_EQ(ring->records(), std::uint64_t{kThreads} * kCount);
  EXPECT_GT(ring->page().header.head.load(), 3 * ring::kRecordsBytes);
}

TEST(Ring, HandsOutWhatProcessesWroteInEachProcesssOrder) {
  auto ring = RingReader::create().value();
  constexpr std::uint32_t kProcesses = 3;
  constexpr std::uint32_t kCount = 20'000;
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // As an agent does: its own mapping of the descriptor.
      void* memory =
          mmap(nullptr, ring::kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->descriptor(), 0);
      if (memory == MAP_FAILED) _exit(1);
      produce(*static_cast<ring::FirstPage*>(memory), i, kCount);
      _exit(0);
    }
  }
  Collector collector;
  std::uint32_t ended = 0;
  while (ended < kProcesses) {
    ring->drain(collector);
    int status = 0;
    if (waitpid(-1, &status, WNOHANG) <= 0) continue;
    ASSERT_EQ(status, 0);
    ++ended;
  }
  ring->drain(collector);
  check(collector.seen, kProcesses, kCount);
  EXPECT_EQ(ring->lost(), 0u);
}

RC_GTEST_PROP(Ring, AnySequenceOfLengthsComesBack, ()) {
  static auto ring = RingReader::create().value();
  const auto lengths =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 2 * limits::kPathBytes));
  const auto drain_every = *rc::gen::inRange<std::size_t>(1, 100);
  Producer producer(ring->page());
  Collector collector;
  std::vector<std::string> written;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    written.push_back("/" + std::string(lengths[i] - 1, static_cast<char>('a' + i % 26)));
    RC_ASSERT(producer.write(7, written.back()));
    if (i % drain_every == 0) ring->drain(collector);
  }
  ring->drain(collector);
  RC_ASSERT(collector.seen.size() == written.size());
  for (std::size_t i = 0; i < written.size(); ++i) RC_ASSERT(collector.seen[i].path == written[i]);
  RC_ASSERT(!ring->broken());
}

TEST(Ring, WaitsForARecordThatIsBeingWritten) {
  auto ring = RingReader::create().value();
  Producer producer(ring->page());
  const std::string path = "/late";
  ring::Record* room = producer.take_room(Producer::bytes_of(path, false));
  producer.write(2, "/behind");
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    Producer::fill(room, 1, path, nullptr);
  });
  Collector collector;
  ring->drain(collector);
  writer.join();
  ASSERT_EQ(collector.seen.size(), 2u);
  EXPECT_EQ(collector.seen[0].path, "/late");
  EXPECT_EQ(collector.seen[1].path, "/behind");
}

TEST(Ring, ClosesWhenAWriterDiedHalfWay) {
  auto ring = RingReader::create().value();
  const pid_t child = fork();
  if (child == 0) {
    Producer producer(ring->page());
    producer.begin();
    producer.take_room(64);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  Producer producer(ring->page());
  producer.write(1, "/never/reported");
  Collector collector;
  EXPECT_EQ(ring->drain(collector), 0u);
  EXPECT_TRUE(collector.seen.empty());
  EXPECT_TRUE(ring->broken());
  EXPECT_TRUE(ring->closed());
  EXPECT_GT(ring->lost(), 0u);
  EXPECT_FALSE(producer.write(1, "/after"));  // agents take the slow path now
}

TEST(Ring, CountsAnAccessWithoutItsRecord) {
  auto ring = RingReader::create().value();
  Producer producer(ring->page());
  producer.begin();  // the system call is made, then the process is killed
  Collector collector;
  ring->drain(collector);
  EXPECT_FALSE(ring->broken());
  EXPECT_EQ(ring->lost(), 1u);
}

TEST(Ring, RefusesWhatIsNotARecord) {
  struct Damage {
    const char* what;
    void (*apply)(ring::Record*);
  };
  const Damage damages[] = {
      {"not a multiple of 8", [](ring::Record* r) { r->bytes = 33; }},
      {"longer than what was taken", [](ring::Record* r) { r->bytes = 4096; }},
      {"shorter than a record", [](ring::Record* r) { r->bytes = 8; }},
      {"path beyond the record", [](ring::Record* r) { r->path_bytes = 500; }},
      {"no path", [](ring::Record* r) { r->path_bytes = 0; }},
      {"a change", [](ring::Record* r) { r->access = static_cast<std::uint8_t>(Access::rename); }},
      {"an execution", [](ring::Record* r) { r->access = static_cast<std::uint8_t>(Access::execute); }},
      {"unknown access", [](ring::Record* r) { r->access = 200; }},
      {"stat beyond the record", [](ring::Record* r) { r->bits = ring::kHasStat; }},
      {"relative path", [](ring::Record* r) { *reinterpret_cast<char*>(r + 1) = 'x'; }},
      {"descriptor as result", [](ring::Record* r) { r->result = 3; }},
  };
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.what);
    auto ring = RingReader::create().value();
    Producer producer(ring->page());
    ASSERT_TRUE(producer.write(1, "/a"));
    auto* record = reinterpret_cast<ring::Record*>(reinterpret_cast<unsigned char*>(&ring->page()) +
                                                   ring::kRecordsOffset);
    damage.apply(record);
    Collector collector;
    ring->drain(collector);
    EXPECT_TRUE(collector.seen.empty());
    EXPECT_TRUE(ring->broken());
    EXPECT_GT(ring->lost(), 0u);
  }
}

TEST(Ring, SurvivesAHeadThatCannotBe) {
  auto ring = RingReader::create().value();
  ring->page().header.head = 5 * ring::kRecordsBytes;
  Collector collector;
  EXPECT_EQ(ring->drain(collector), 0u);
  EXPECT_TRUE(ring->broken());
}

TEST(Ring, TakesAFewTablesOfSites) {
  auto ring = RingReader::create().value();
  const std::vector<ring::SharedSite> sites = {{100, 2}, {200, 4}};
  EXPECT_EQ(ring->add_library(sites), 0u);
  EXPECT_EQ(ring->page().libraries[0].count, 2u);
  EXPECT_EQ(ring->page().libraries[0].sites[1].offset, 200u);
  EXPECT_EQ(ring->add_library(std::vector<ring::SharedSite>(ring::kSitesPerLibrary + 1)), std::nullopt);
  for (std::uint32_t i = 1; i < ring::kLibraries; ++i) EXPECT_EQ(ring->add_library(sites), i);
  EXPECT_EQ(ring->add_library(sites), std::nullopt);
}

}  // namespace
}  // namespace hallmark::observe
