// Small reads from /proc/<number>/, without allocation.
#pragma once

#include <sys/types.h>

#include <span>
#include <string_view>

namespace hallmark::observe {

/// "/proc/<thread>/<name>" in a buffer of its own.
class ProcPath {
 public:
  ProcPath(pid_t thread, std::string_view name);
  ProcPath(pid_t thread, std::string_view folder, int number);
  const char* c_str() const { return text_; }
  std::string_view view() const { return {text_, length_}; }

 private:
  void add(std::string_view text);
  void add(int number);
  char text_[64];
  std::size_t length_ = 0;
};

/// Up to buffer.size() bytes of /proc/<thread>/<name>; empty if it cannot be read.
std::string_view read_proc_text(pid_t thread, std::string_view name, std::span<char> buffer);

}  // namespace hallmark::observe
