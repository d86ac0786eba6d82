// The exit codes of section "EXIT CODES" of the manual.
#pragma once

#include "base/error.h"

namespace hallmark::cli {

inline constexpr int kOk = 0;
inline constexpr int kNegative = 1;
inline constexpr int kUsage = 2;
inline constexpr int kEnvironment = 3;
inline constexpr int kCorruptStore = 4;
inline constexpr int kOwnFailure = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

/// Of every verb but `run`.
constexpr int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid:
      return kUsage;
    case ErrorKind::corrupt:
      return kCorruptStore;
    default:
      return kEnvironment;
  }
}

/// Of `run`, where the code must not be mistaken for the command's own.
constexpr int run_exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::no_command:
      return kNotFound;
    case ErrorKind::bad_command:
      return kNotExecutable;
    case ErrorKind::invalid:
      return kUsage;
    default:
      return kOwnFailure;
  }
}

}  // namespace hallmark::cli
