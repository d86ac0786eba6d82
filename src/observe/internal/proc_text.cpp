#include "observe/internal/proc_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <charconv>

namespace hallmark::observe {

ProcPath::ProcPath(pid_t thread, std::string_view name) {
  add("/proc/");
  add(thread);
  add("/");
  add(name);
  text_[length_] = '\0';
}

ProcPath::ProcPath(pid_t thread, std::string_view folder, int number) {
  add("/proc/");
  add(thread);
  add("/");
  add(folder);
  add("/");
  add(number);
  text_[length_] = '\0';
}

void ProcPath::add(std::string_view text) {
  assert(length_ + text.size() < sizeof text_);
  text.copy(text_ + length_, text.size());
  length_ += text.size();
}

void ProcPath::add(int number) {
  const auto end = std::to_chars(text_ + length_, text_ + sizeof text_ - 1, number);
  length_ = static_cast<std::size_t>(end.ptr - text_);
}

std::string_view read_proc_text(pid_t thread, std::string_view name, std::span<char> buffer) {
  const int file = ::open(ProcPath(thread, name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t count = ::read(file, buffer.data() + filled, buffer.size() - filled);
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  ::close(file);
  return {buffer.data(), filled};
}

}  // namespace hallmark::observe
