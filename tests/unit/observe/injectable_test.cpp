#include "observe/internal/injectable.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace hallmark::observe {
namespace {

class Injectable : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  AgentObstacle judge(const std::string& bytes, mode_t mode = 0755) {
    std::ofstream(path_, std::ios::binary) << bytes;
    EXPECT_EQ(chmod(path_.c_str(), mode), 0);
    return agent_obstacle(os::linux_file_system(), path_);
  }

  std::string path_ = testing::TempDir() + "hallmark_injectable_" + std::to_string(getpid());
};

struct Program {
  std::string interpreter = "/lib64/ld-linux-x86-64.so.2";
  std::vector<std::string> needed = {"libm.so.6", "libc.so.6"};
  std::uint16_t machine = EM_X86_64;
  bool has_names = true;  ///< a DT_STRTAB
};

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// One segment that holds everything, at address 0x400000.
std::string elf(const Program& program) {
  constexpr std::uint64_t kBase = 0x400000;
  constexpr std::size_t kParts = 3;
  std::string names(1, '\0');
  std::vector<std::uint64_t> offsets;
  for (const std::string& name : program.needed) {
    offsets.push_back(names.size());
    names += name + '\0';
  }
  const std::size_t names_at = sizeof(Elf64_Ehdr) + kParts * sizeof(Elf64_Phdr);
  const std::size_t interpreter_at = names_at + names.size();
  const std::size_t dynamic_at = (interpreter_at + program.interpreter.size() + 1 + 7) & ~std::size_t{7};

  std::string dynamic;
  for (const std::uint64_t offset : offsets) append(dynamic, Elf64_Dyn{DT_NEEDED, {offset}});
  if (program.has_names) append(dynamic, Elf64_Dyn{DT_STRTAB, {kBase + names_at}});
  append(dynamic, Elf64_Dyn{DT_NULL, {0}});

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_type = ET_EXEC;
  header.e_machine = program.machine;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = program.interpreter.empty() ? 1 : kParts;
  const std::uint64_t total = dynamic_at + dynamic.size();
  std::string bytes;
  append(bytes, header);
  append(bytes, Elf64_Phdr{PT_LOAD, PF_R | PF_X, 0, kBase, kBase, total, total, 4096});
  append(bytes, Elf64_Phdr{PT_INTERP, PF_R, interpreter_at, kBase + interpreter_at, 0,
                           program.interpreter.size() + 1, program.interpreter.size() + 1, 1});
  append(bytes,
         Elf64_Phdr{PT_DYNAMIC, PF_R, dynamic_at, kBase + dynamic_at, 0, dynamic.size(), dynamic.size(), 8});
  bytes += names + program.interpreter + '\0';
  bytes.resize(dynamic_at);
  return bytes + dynamic;
}

TEST_F(Injectable, TakesAnOrdinaryProgram) {
  EXPECT_EQ(judge(elf({})), AgentObstacle::none);
}

TEST_F(Injectable, LeavesStaticProgramsAndOtherLoadersAlone) {
  EXPECT_EQ(judge(elf({.interpreter = ""})), AgentObstacle::own_loader);
  EXPECT_EQ(judge(elf({.interpreter = "/lib/ld-musl-x86_64.so.1"})), AgentObstacle::own_loader);
  EXPECT_EQ(judge(elf({.interpreter = "/lib/ld-linux.so.2"})), AgentObstacle::own_loader);
  EXPECT_EQ(judge(elf({.interpreter = "/nix/store/x/ld-linux-x86-64.so.2"})), AgentObstacle::none);
}

TEST_F(Injectable, LeavesASharedAddressSanitizerAlone) {
  EXPECT_EQ(judge(elf({.needed = {"libm.so.6", "libasan.so.8", "libc.so.6"}})), AgentObstacle::sanitizer);
  EXPECT_EQ(judge(elf({.needed = {"libclang_rt.asan-x86_64.so"}})), AgentObstacle::sanitizer);
  EXPECT_EQ(judge(elf({.needed = {"libtsan.so.2", "libubsan.so.1"}})), AgentObstacle::none);
  EXPECT_EQ(judge(elf({.has_names = false})), AgentObstacle::sanitizer);  // cannot be told
}

TEST_F(Injectable, LeavesPrivilegedProgramsAlone) {
  EXPECT_EQ(judge(elf({}), 04755), AgentObstacle::privileged);
  EXPECT_EQ(judge(elf({}), 02755), AgentObstacle::privileged);
}

TEST_F(Injectable, IsNotFooledByOtherFiles) {
  EXPECT_EQ(judge(""), AgentObstacle::unreadable);
  EXPECT_EQ(judge("#!/bin/sh\n"), AgentObstacle::unreadable);
  EXPECT_EQ(judge(elf({.machine = EM_AARCH64})), AgentObstacle::unreadable);
  EXPECT_EQ(agent_obstacle(os::linux_file_system(), "/"), AgentObstacle::unreadable);
  EXPECT_EQ(agent_obstacle(os::linux_file_system(), path_ + ".none"), AgentObstacle::unreadable);
}

TEST_F(Injectable, SurvivesAnyCutAndAnyDamage) {
  const std::string whole = elf({});
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) (void)judge(whole.substr(0, bytes));
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    (void)judge(damaged);
  }
}

TEST_F(Injectable, ADamagedAgentIsRefused) {
  const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";
  std::ifstream file(libc, std::ios::binary);
  ASSERT_TRUE(file) << libc;
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return !check_agent_library(os::linux_file_system(), path_).has_value();
  };
  EXPECT_FALSE(refused(whole));
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("text"));
  EXPECT_TRUE(refused(whole.substr(0, 100)));
  EXPECT_TRUE(refused(whole.substr(0, whole.size() / 2)));
  EXPECT_TRUE(refused(elf({}))) << "a program, not a library";
  EXPECT_FALSE(check_agent_library(os::linux_file_system(), path_ + ".none").has_value());
}

}  // namespace
}  // namespace hallmark::observe
