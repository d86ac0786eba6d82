// Error: why something could not be done, in words for a person, with a kind for the program.
#pragma once

#include <string>
#include <string_view>

namespace hallmark {

/// What a caller may want to tell apart. Everything else is in the text.
enum class ErrorKind {
  not_found,     ///< the thing does not exist
  permission,    ///< not allowed, or the file system is read-only
  no_space,      ///< disk or quota full, or out of inodes
  io,            ///< the operating system failed in another way
  corrupt,       ///< bytes on disk are not what was written
  newer_format,  ///< written by a later hallmark
  unsupported,   ///< this machine cannot do it (no seccomp, no /proc, ...)
  invalid,       ///< the caller's words or data are wrong
  limit,         ///< a named limit (base/limits.h) was reached
  no_command,    ///< there is no such program; of a command that a person asked for, nothing else
  bad_command,   ///< that program cannot be executed
};

/// A failure. `what` says what failed and why; `hint`, if any, what to do about it. Neither ends with a full
/// stop.
struct Error {
  ErrorKind kind = ErrorKind::io;
  std::string what;
  std::string hint;

  /// From the calling thread's errno: "open /x: No such file or directory".
  static Error from_errno(std::string_view action, std::string_view subject);
  /// The same from a given errno value (positive).
  static Error from_errno(std::string_view action, std::string_view subject, int error_number);

  /// One line: what, then the hint behind a semicolon.
  std::string message() const;
};

/// The kind that an errno value (positive) belongs to.
ErrorKind kind_of_errno(int error_number);

}  // namespace hallmark
