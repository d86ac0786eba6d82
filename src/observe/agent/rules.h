// The calls that the agent may carry out itself: the `fast` rules of the syscall table, without their names,
// so that the agent needs no relocation.
#pragma once

#include "observe/internal/syscall_table.h"

namespace hallmark::observe::agent {

struct FastRule {
  std::uint16_t number = 0;
  Access access{};
  bool follow = false;
  std::int8_t folder = kNoArgument;
  std::int8_t path = kNoArgument;
  std::int8_t flags = kNoArgument;
  FlagKind flag_kind{};
};

consteval std::size_t count_fast_rules() {
  std::size_t count = 0;
  for (const SyscallRule& rule : kSyscallRules) count += rule.fast ? 1 : 0;
  return count;
}

consteval auto make_fast_rules() {
  std::array<FastRule, count_fast_rules()> rules{};
  std::size_t next = 0;
  for (const SyscallRule& rule : kSyscallRules) {
    if (!rule.fast) continue;
    rules[next++] = {rule.number, rule.access, rule.follow,   rule.folder,
                     rule.path,   rule.flags,  rule.flag_kind};
  }
  return rules;
}

inline constexpr auto kFastRules = make_fast_rules();

}  // namespace hallmark::observe::agent
