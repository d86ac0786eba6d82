// Command: all that is known of a command before it runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hallmark::model {

/// What a standard stream is connected to.
enum class StreamKind : std::uint8_t { closed, null_device, file, pipe, tty, other };

using Environment = std::map<std::string, std::string>;

/// Where programs are looked for if there is no PATH, as the C library does (confstr(_CS_PATH)).
inline constexpr std::string_view kPathIfUnset = "/bin:/usr/bin";

struct Command {
  std::vector<std::string> argv;  ///< not empty
  std::string cwd;                ///< absolute, as getcwd says (no links)
  Environment environment;        ///< all of it
  StreamKind in = StreamKind::null_device;
  StreamKind out = StreamKind::pipe;
  StreamKind err = StreamKind::pipe;
  bool merged = false;  ///< stdout and stderr are the same open file
  bool script = false;  ///< argv[0] is found as a text that an interpreter executes
  std::uint32_t uid = 0;
  std::uint32_t umask = 022;
};

}  // namespace hallmark::model
