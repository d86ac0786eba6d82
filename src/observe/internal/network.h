// NetworkJudge: which socket addresses reach beyond the command.
//
// Local services that only answer what files would (nscd, sssd, userdb, logs) and sockets that the command
// bound itself do not; the internet and every other local socket does.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace hallmark::observe {

class NetworkJudge {
 public:
  enum class Verdict {
    harmless,
    path,     ///< a socket in the file system: ask whether the command made it
    reaches,  ///< beyond the command
  };
  struct Judged {
    Verdict verdict = Verdict::harmless;
    std::string subject;  ///< the path, or the address as text
  };

  /// `address`: the bytes of a sockaddr. `binds`: it is to be bound, not connected to.
  Judged judge(std::string_view address, bool binds);

  static bool is_known_service(std::string_view path);

 private:
  std::set<std::string, std::less<>> own_abstract_;
};

}  // namespace hallmark::observe
