// The supervisor's half of the hybrid tier, asked as ld.so and the agent ask it.
#include "observe/internal/hybrid_fast_path.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace hallmark::observe {
namespace {

constexpr const char* kPreload = "/etc/ld.so.preload";
constexpr const char* kProgram = "/bin/true";
constexpr const char* kLibc = "/lib/x86_64-linux-gnu/libc.so.6";

struct Sink final : EventSink {
  struct Seen {
    pid_t thread;
    Access access;
    int result;
    std::string path;
  };
  std::vector<Seen> events;
  std::vector<model::Reason> doubts;
  void on_event(const Event& event) override {
    events.push_back({event.thread, event.access, event.result, std::string(event.path)});
  }
  void on_doubt(model::Reason reason) override { doubts.push_back(std::move(reason)); }
};

std::string content_of(int descriptor) {
  std::string text(4096, '\0');
  const ssize_t got = pread(descriptor, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

class Hybrid : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kLibc)) GTEST_SKIP() << "SKIPPED: no glibc at " << kLibc;
    std::filesystem::copy_file(kLibc, agent_, std::filesystem::copy_options::overwrite_existing);
    ASSERT_TRUE(fast_.prepare().has_value());
  }
  void TearDown() override { std::filesystem::remove(agent_); }

  std::optional<InjectedReply> ask(Access access, const std::string& path) {
    Event event;
    event.thread = thread_;
    event.access = access;
    event.path = path;
    report_ = false;
    return fast_.answer(event, report_);
  }

  /// Everything up to the ring; its descriptor and value.
  InjectedReply get_ring() {
    fast_.on_execute(thread_, kProgram);
    EXPECT_TRUE(ask(Access::look, kPreload).has_value());
    EXPECT_TRUE(ask(Access::open_read, kPreload).has_value());
    EXPECT_TRUE(ask(Access::open_read, agent_).has_value());
    return ask(Access::open_read, std::string(ring::kRingPrefix) + kLibc).value_or(InjectedReply{});
  }

  pid_t thread_ = getpid();  // alive, so that its environment can be read
  std::string agent_ = testing::TempDir() + "hallmark_agent_" + std::to_string(getpid());
  HybridFastPath fast_{os::linux_file_system(), agent_, ""};
  Sink sink_;
  bool report_ = false;
};

TEST_F(Hybrid, AnswersLdSoInItsOrder) {
  fast_.on_execute(thread_, kProgram);
  const auto looked = ask(Access::look, kPreload);
  ASSERT_TRUE(looked.has_value());
  EXPECT_EQ(looked->descriptor, -1);
  EXPECT_EQ(looked->value, 0);
  EXPECT_EQ(looked->error, 0);
  EXPECT_TRUE(report_);  // the real file stays an input

  const auto opened = ask(Access::open_read, kPreload);
  ASSERT_TRUE(opened.has_value());
  EXPECT_TRUE(report_);
  EXPECT_TRUE(content_of(opened->descriptor).ends_with(agent_ + "\n"));

  const auto agent = ask(Access::open_read, agent_);
  ASSERT_TRUE(agent.has_value());
  EXPECT_FALSE(report_);  // nobody's input
  EXPECT_TRUE(content_of(agent->descriptor)
                  .starts_with("\x7f"
                               "ELF"));

  const auto ring = ask(Access::open_read, std::string(ring::kRingPrefix) + kLibc);
  ASSERT_TRUE(ring.has_value());
  EXPECT_FALSE(report_);
  EXPECT_GE(ring->descriptor, 0);
  const auto bits = static_cast<std::uint64_t>(ring->value);
  EXPECT_EQ(bits >> ring::kReplyImageShift, 0u);
  EXPECT_EQ(bits & ring::kReplyDescriptorMask, 0u);  // room for the descriptor's number
}

TEST_F(Hybrid, LeavesAProgramsOwnUseOfTheFileAlone) {
  EXPECT_FALSE(ask(Access::look, kPreload).has_value());  // not executed by us
  get_ring();
  EXPECT_FALSE(ask(Access::look, kPreload).has_value());
  EXPECT_FALSE(ask(Access::open_read, kPreload).has_value());
  fast_.on_execute(thread_, kProgram);
  EXPECT_FALSE(ask(Access::open_read, kPreload).has_value());  // opened without a look: not ld.so
  EXPECT_FALSE(ask(Access::look, kPreload).has_value());
}

TEST_F(Hybrid, GivesTheRingOnlyToAnAgent) {
  const std::string request = std::string(ring::kRingPrefix) + kLibc;
  fast_.on_execute(thread_, kProgram);
  auto reply = ask(Access::open_read, request);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->error, ENOENT);
  EXPECT_FALSE(report_);
  EXPECT_GE(get_ring().descriptor, 0);
  reply = ask(Access::open_read, request);  // a second time
  EXPECT_EQ(reply->error, ENOENT);
}

TEST_F(Hybrid, RefusesALibcThatItCannotRead) {
  fast_.on_execute(thread_, kProgram);
  ask(Access::look, kPreload);
  ask(Access::open_read, kPreload);
  ask(Access::open_read, agent_);
  const auto reply = ask(Access::open_read, std::string(ring::kRingPrefix) + "/no/such/libc.so.6");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->error, ENOENT);
}

TEST_F(Hybrid, StaysOutOfProgramsThatCannotHaveIt) {
  fast_.on_execute(thread_, "/no/such/program");
  EXPECT_FALSE(ask(Access::look, kPreload).has_value());
  fast_.on_execute(thread_, kLibc);  // no interpreter that would ask, or none of ours
  (void)ask(Access::look, kPreload);
  fast_.on_execute(thread_, "");
  EXPECT_FALSE(ask(Access::look, kPreload).has_value());
}

TEST_F(Hybrid, ReportsWhatTheRingHolds) {
  const InjectedReply reply = get_ring();
  void* memory = mmap(nullptr, ring::kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, reply.descriptor, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& header = static_cast<ring::FirstPage*>(memory)->header;
  const auto put = [&](std::uint32_t image, std::int32_t result, Access access, std::string_view path) {
    const std::size_t bytes = ring::padded(sizeof(ring::Record) + path.size());
    const std::uint64_t head = header.head.fetch_add(bytes);
    auto* record = reinterpret_cast<ring::Record*>(static_cast<char*>(memory) + ring::kRecordsOffset + head);
    record->image = image;
    record->result = result;
    record->access = static_cast<std::uint8_t>(access);
    record->path_bytes = static_cast<std::uint16_t>(path.size());
    std::memcpy(reinterpret_cast<char*>(record + 1), path.data(), path.size());
    record->bytes = static_cast<std::uint32_t>(bytes);
  };
  put(0, 0, Access::open_read, "/a");
  put(0, -ENOENT, Access::look, "/b");
  put(0, -EACCES, Access::look, "/c");
  put(0, -EINVAL, Access::read_link, "/d");
  put(0, -ENODATA, Access::look, "/e");
  put(0, 0, Access::open_read, agent_);
  fast_.drain(sink_);
  ASSERT_EQ(sink_.events.size(), 5u);
  EXPECT_EQ(sink_.events[0].thread, thread_);
  EXPECT_EQ(sink_.events[0].path, "/a");
  EXPECT_EQ(sink_.events[0].result, 0);
  EXPECT_EQ(sink_.events[1].result, -ENOENT);
  EXPECT_EQ(sink_.events[2].result, kResultUnknown);  // the Tracker asks the disk
  EXPECT_EQ(sink_.events[3].result, -EINVAL);
  EXPECT_EQ(sink_.events[4].result, 0);  // no such attribute: the file is there
  EXPECT_TRUE(sink_.doubts.empty());

  put(77, 0, Access::look, "/from/nobody");
  header.started += 1;
  fast_.finish(sink_);
  EXPECT_EQ(sink_.events.size(), 5u);
  ASSERT_FALSE(sink_.doubts.empty());
  EXPECT_EQ(sink_.doubts.back().code, model::ReasonCode::observation_lost);
  EXPECT_NE(header.closed.load(), 0u);
  munmap(memory, ring::kMappedBytes);
}

TEST_F(Hybrid, StopsWhenPathsMeanSomethingElse) {
  get_ring();
  fast_.on_new_view();
  fast_.on_execute(thread_, kProgram);
  EXPECT_FALSE(ask(Access::look, kPreload).has_value());
}

TEST_F(Hybrid, LeavesAConfinedProgramToTheSupervisor) {
  const InjectedReply reply = get_ring();
  void* memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, reply.descriptor, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto& header = static_cast<ring::FirstPage*>(memory)->header;
  EXPECT_EQ(header.confined[0].load(), 0u);
  fast_.on_confine(thread_);
  EXPECT_EQ(header.confined[0].load(), 1u);
  EXPECT_EQ(header.closed.load(), 0u);  // the others go on
  munmap(memory, 4096);
}

TEST(HybridSetup, NeedsAnAgent) {
  HybridFastPath none(os::linux_file_system(), "", "");
  EXPECT_FALSE(none.prepare().has_value());
  HybridFastPath missing(os::linux_file_system(), "/no/such/agent.so", "");
  EXPECT_FALSE(missing.prepare().has_value());
  const std::string text = testing::TempDir() + "hallmark_damaged_agent_" + std::to_string(getpid());
  std::ofstream(text) << "text";
  HybridFastPath damaged(os::linux_file_system(), text, "");
  EXPECT_FALSE(damaged.prepare().has_value());
  std::filesystem::remove(text);
}

TEST_F(Hybrid, LearnsWhereTheAgentPays) {
  const std::string file = testing::TempDir() + "hallmark_learn_" + std::to_string(getpid());
  for (int run = 0; run < 2; ++run) {
    HybridFastPath fast(os::linux_file_system(), agent_, file);
    ASSERT_TRUE(fast.prepare().has_value());
    fast.on_execute(thread_, kProgram);
    Event event;
    event.thread = thread_;
    event.path = kPreload;
    event.access = Access::look;
    bool report = false;
    // Unknown at first; then known to make one access.
    EXPECT_EQ(fast.answer(event, report).has_value(), run == 0);
    fast.finish(sink_);
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace hallmark::observe
