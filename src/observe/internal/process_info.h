// ProcessInfo: the few things that the Tracker must ask of the live system, so that a test can answer them.
#pragma once

#include <sys/types.h>

#include <string>

namespace hallmark::observe {

class ProcessInfo {
 public:
  virtual ~ProcessInfo() = default;
  /// The process (thread group) of a thread; the thread itself if it is gone.
  virtual pid_t process_of(pid_t thread) = 0;
  /// Whether the file carries file capabilities. Follows no link.
  virtual bool has_capabilities(const std::string& path) = 0;
};

/// The real one, by /proc and lgetxattr.
ProcessInfo& linux_process_info();

}  // namespace hallmark::observe
