// The smaller pieces of room observe, each by itself.
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "observe/internal/hash.h"
#include "observe/internal/inherited.h"
#include "observe/internal/launcher.h"
#include "observe/internal/network.h"
#include "observe/internal/path_tree.h"
#include "observe/internal/proc_text.h"
#include "observe/internal/process_memory.h"
#include "observe/internal/program_file.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::observe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

// ---- program files

std::string elf_with_interpreter(std::uint64_t segments_at, std::uint64_t name_at, std::string_view name,
                                 unsigned char elf_class = ELFCLASS64, std::uint16_t machine = EM_X86_64) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = elf_class;
  header.e_machine = machine;
  header.e_phoff = segments_at;
  header.e_phnum = 2;
  Elf64_Phdr segments[2] = {};
  segments[0].p_type = PT_LOAD;
  segments[1].p_type = PT_INTERP;
  segments[1].p_offset = name_at;
  segments[1].p_filesz = name.size() + 1;
  std::string file(std::max(segments_at + sizeof segments, name_at + name.size() + 1), '\0');
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + segments_at, segments, sizeof segments);
  name.copy(file.data() + name_at, name.size());
  return file;
}

class ProgramFileTest : public testing::Test {
 protected:
  ProgramFile read(std::string_view bytes) {
    files.put("/p", bytes);
    return read_program_file(files, "/p");
  }
  test::FakeClock clock;
  test::FakeFileSystem files{clock};
};

TEST_F(ProgramFileTest, Interpreters) {
  EXPECT_EQ(read("#!/bin/sh\necho").interpreter, "/bin/sh");
  EXPECT_EQ(read("#! \t/usr/bin/env python3 -u\n").interpreter, "/usr/bin/env");
  EXPECT_EQ(read("#!/bin/sh").interpreter, "/bin/sh");
  EXPECT_EQ(read("#!/bin/sh\r\n").interpreter, "/bin/sh");
  EXPECT_EQ(read("#!\n").interpreter, "");
  EXPECT_EQ(read("echo hi\n").kind, ProgramFile::Kind::other);
  EXPECT_EQ(read("").kind, ProgramFile::Kind::other);
}

TEST_F(ProgramFileTest, LoaderOfAnElfFile) {
  EXPECT_EQ(read(elf_with_interpreter(64, 300, "/lib64/ld.so")).interpreter, "/lib64/ld.so");
}

TEST_F(ProgramFileTest, LoaderMovedToTheEndAsPatchelfDoes) {
  EXPECT_EQ(read(elf_with_interpreter(64, 200'000, "/nix/ld.so")).interpreter, "/nix/ld.so");
  EXPECT_EQ(read(elf_with_interpreter(300'000, 500'000, "/nix/ld.so")).interpreter, "/nix/ld.so");
}

TEST_F(ProgramFileTest, DamagedElfFilesAreHarmless) {
  const std::string good = elf_with_interpreter(64, 300, "/lib64/ld.so");
  for (std::size_t length = 0; length < good.size(); length += 7)
    read(std::string_view(good).substr(0, length));
  read(elf_with_interpreter(64, 300, std::string(10'000, 'x')));
  std::string wild = good;
  std::memset(wild.data() + offsetof(Elf64_Ehdr, e_phoff), 0xff, 8);
  EXPECT_EQ(read(wild).interpreter, "");
}

TEST_F(ProgramFileTest, ForeignArchitecture) {
  EXPECT_TRUE(read(elf_with_interpreter(64, 300, "/ld", ELFCLASS32, EM_386)).foreign);
  EXPECT_TRUE(read(elf_with_interpreter(64, 300, "/ld", ELFCLASS64, EM_AARCH64)).foreign);
  EXPECT_FALSE(read(elf_with_interpreter(64, 300, "/ld")).foreign);
}

TEST(ProgramFile, RealOne) {
  const ProgramFile program = read_program_file(os::linux_file_system(), "/bin/sh");
  EXPECT_EQ(program.kind, ProgramFile::Kind::elf);
  EXPECT_THAT(program.interpreter, StartsWith("/lib"));
}

// ---- network

std::string_view bytes_of(const void* address, std::size_t length) {
  return {static_cast<const char*>(address), length};
}

std::string unix_address(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path);
  return std::string(bytes_of(&address, offsetof(sockaddr_un, sun_path) + path.size()));
}

TEST(NetworkJudge, InternetReachesOut) {
  NetworkJudge judge;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(443);
  address.sin_addr.s_addr = htonl(0x7f000001);
  const auto judged = judge.judge(bytes_of(&address, sizeof address), false);
  EXPECT_EQ(judged.verdict, NetworkJudge::Verdict::reaches);
  EXPECT_EQ(judged.subject, "127.0.0.1:443");
}

TEST(NetworkJudge, LocalSockets) {
  using Verdict = NetworkJudge::Verdict;
  NetworkJudge judge;
  EXPECT_EQ(judge.judge(unix_address("/var/run/nscd/socket"), false).verdict, Verdict::harmless);
  EXPECT_EQ(judge.judge(unix_address("/run/systemd/userdb/io.systemd.Multiplexer"), false).verdict,
            Verdict::harmless);
  EXPECT_EQ(judge.judge(unix_address("/dev/log"), false).verdict, Verdict::harmless);
  EXPECT_EQ(judge.judge(unix_address("/tmp/server"), false).verdict, Verdict::path);
  EXPECT_EQ(judge.judge(unix_address(std::string_view("\0server", 7)), false).verdict, Verdict::reaches);
  EXPECT_EQ(judge.judge(unix_address(std::string_view("\0own", 4)), true).verdict, Verdict::harmless);
  EXPECT_EQ(judge.judge(unix_address(std::string_view("\0own", 4)), false).verdict, Verdict::harmless);
  EXPECT_EQ(judge.judge("", false).verdict, Verdict::harmless);
  EXPECT_EQ(judge.judge(std::string_view("\0", 1), false).verdict, Verdict::harmless);
}

// ---- memory of a process

TEST(ProcessMemory, ReadsTextAcrossPages) {
  constexpr std::size_t kPage = 4096;
  char* pages = static_cast<char*>(
      ::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ::munmap(pages + 2 * kPage, kPage);  // nothing behind
  ProcessMemory memory;
  std::array<char, 4096> buffer;
  std::string_view text;
  const auto read = [&](char* at) {
    return memory.read_text(::getpid(), reinterpret_cast<std::uint64_t>(at), buffer, text);
  };

  std::strcpy(pages + kPage - 5, "0123456789");
  EXPECT_EQ(read(pages + kPage - 5), MemoryRead::ok);
  EXPECT_EQ(text, "0123456789");
  std::strcpy(pages + 2 * kPage - 4, "end");
  EXPECT_EQ(read(pages + 2 * kPage - 4), MemoryRead::ok);
  EXPECT_EQ(text, "end");
  std::memset(pages, 'x', 2 * kPage);
  EXPECT_EQ(read(pages + kPage), MemoryRead::bad_address);  // no end before the border
  EXPECT_EQ(read(nullptr), MemoryRead::bad_address);
  ::munmap(pages, 2 * kPage);
}

TEST(ProcessMemory, ProcessThatIsGone) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  ProcessMemory memory;
  char byte;
  EXPECT_EQ(memory.read(child, 4096, {&byte, 1}), MemoryRead::gone);
}

// ---- launcher

TEST(Launcher, CandidatesAsExecvp) {
  EXPECT_THAT(candidates_of("a/b", {{"PATH", "/x"}}), ElementsAre("a/b"));
  EXPECT_THAT(candidates_of("cc", {{"PATH", "/x::/y/:z"}}), ElementsAre("/x/cc", "cc", "/y//cc", "z/cc"));
  EXPECT_THAT(candidates_of("cc", {}), ElementsAre("/bin/cc", "/usr/bin/cc"));
  EXPECT_THAT(candidates_of("", {{"PATH", "/x"}}), ElementsAre(""));
}

// ---- inherited descriptors

TEST(InheritedDescriptors, PassesOnWhatTheCommandIsToldOf) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int told = ::fcntl(ends[0], F_DUPFD, 20);
  const int untold = ::fcntl(ends[0], F_DUPFD, 20);
  const int null = ::fcntl(::open("/dev/null", O_RDONLY | O_CLOEXEC), F_DUPFD, 20);
  const auto starts = [](int number) { return StartsWith(std::to_string(number) + " -> "); };
  const auto closes = [](int number) { return (::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0; };

  model::Command command;
  command.argv = {"tool", "/dev/fd/" + std::to_string(told), std::to_string(null)};
  const auto found = settle_inherited_descriptors(command);
  EXPECT_THAT(found, Contains(starts(told)));
  EXPECT_THAT(found, Not(Contains(starts(untold))));
  EXPECT_THAT(found, Not(Contains(starts(null))));
  EXPECT_FALSE(closes(told));
  EXPECT_TRUE(closes(untold));
  if (ends[0] <= 9) {
    EXPECT_THAT(found, Contains(starts(ends[0])));
  }

  for (const char* option : {"--jobserver-auth=", "--jobserver-fds="}) {
    command.environment = {
        {"MAKEFLAGS", " -j8 " + (option + std::to_string(told)) + "," + std::to_string(ends[1]) + " -k"}};
    const auto less = settle_inherited_descriptors(command);
    EXPECT_THAT(less, Not(Contains(starts(told))));
    EXPECT_THAT(less, Not(Contains(starts(ends[1]))));
    EXPECT_FALSE(closes(told));
  }
  command.environment = {{"MAKEFLAGS", "--jobserver-auth=fifo:/tmp/x"}};
  EXPECT_THAT(settle_inherited_descriptors(command), Contains(starts(told)));
  for (const int number : {ends[0], ends[1], told, untold, null}) ::close(number);
}

// ---- tables

TEST(HashTable, KeepsWhatWasPut) {
  HashTable table;
  EXPECT_FALSE(table.find(1).has_value());
  for (std::uint32_t i = 0; i < 100'000; ++i) table.put(hash_of(std::to_string(i), 7), i);
  EXPECT_EQ(table.size(), 100'000u);
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(table.find(hash_of(std::to_string(i), 7)), i);
  EXPECT_FALSE(table.find(hash_of("x", 7)).has_value());
  table.clear();
  EXPECT_FALSE(table.find(hash_of("1", 7)).has_value());
}

TEST(Hash, DependsOnEveryByteAndTheSeed) {
  const std::string text(100, 'a');
  const std::uint64_t hash = hash_of(text, 0);
  EXPECT_NE(hash, hash_of(text, 1));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'b';
    EXPECT_NE(hash, hash_of(other, 0)) << i;
  }
  EXPECT_NE(hash_of("a", 0), hash_of(std::string_view("a\0", 2), 0));
}

TEST(PathTree, EachPathOnce) {
  PathTree tree;
  const NodeId file = tree.at("/usr/include/x.h");
  EXPECT_EQ(tree.at("/usr//include/x.h/"), file);
  EXPECT_EQ(tree.path_of(file), "/usr/include/x.h");
  EXPECT_EQ(tree.path_of(kRootNode), "/");
  EXPECT_EQ(tree.find_child(kRootNode, "var"), kNone);
  for (int i = 0; i < 50'000; ++i) tree.child(file, std::to_string(i));
  EXPECT_EQ(tree.path_of(tree.find_child(file, "49999")), "/usr/include/x.h/49999");
}

TEST(PathTree, Zones) {
  PathTree tree;
  const auto zone = [&tree](std::string_view path) { return tree[tree.at(path)].zone; };
  EXPECT_EQ(zone("/proc/12/maps"), Zone::process);
  EXPECT_EQ(zone("/proc/cpuinfo"), Zone::kernel);
  EXPECT_EQ(zone("/proc/sys/12"), Zone::kernel);
  EXPECT_EQ(zone("/sys/devices"), Zone::kernel);
  EXPECT_EQ(zone("/dev/null"), Zone::device);
  EXPECT_EQ(zone("/dev/shm/x"), Zone::normal);
  EXPECT_EQ(zone("/w/proc/12"), Zone::normal);
  EXPECT_EQ(zone("/w/__pycache__/x/y"), Zone::bytecode);
}

TEST(ProcPath, Spells) {
  EXPECT_EQ(ProcPath(12, "cwd").view(), "/proc/12/cwd");
  EXPECT_EQ(ProcPath(2147483647, "fd", 2147483647).view(), "/proc/2147483647/fd/2147483647");
}

}  // namespace
}  // namespace hallmark::observe
