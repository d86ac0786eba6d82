#include "observe/internal/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

namespace hallmark::observe {
namespace {

template <class Address>
Address copy_of(std::string_view bytes) {
  Address address{};
  std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof address));
  return address;
}

std::string text_of_internet(int family, const void* address, in_port_t port) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(family, address, text, sizeof text);
  return std::string(text) + (family == AF_INET6 ? " port " : ":") + std::to_string(ntohs(port));
}

}  // namespace

bool NetworkJudge::is_known_service(std::string_view path) {
  if (path.starts_with("/var/run/")) path.remove_prefix(std::string_view("/var").size());
  return path == "/run/nscd/socket" || path == "/dev/log" || path.starts_with("/run/systemd/userdb/") ||
         path.starts_with("/run/systemd/journal/") || path.starts_with("/var/lib/sss/pipes/");
}

NetworkJudge::Judged NetworkJudge::judge(std::string_view address, bool binds) {
  if (address.size() < sizeof(sa_family_t)) return {};
  const auto family = copy_of<sockaddr>(address).sa_family;
  switch (family) {
    case AF_UNSPEC:
    case AF_NETLINK:  // the kernel's own tables
    case AF_ALG:      // the kernel's ciphers
      return {};
    case AF_UNIX: {
      std::string_view name = address.substr(offsetof(sockaddr_un, sun_path));
      if (name.empty()) return {};  // an unnamed socket, or one that the kernel names
      if (name.front() == '\0') {
        if (binds) own_abstract_.emplace(name);
        if (binds || own_abstract_.contains(name)) return {};
        return {Verdict::reaches, "unix:@" + std::string(name.substr(1))};
      }
      name = name.substr(0, name.find('\0'));
      return {is_known_service(name) ? Verdict::harmless : Verdict::path, std::string(name)};
    }
    case AF_INET: {
      const auto internet = copy_of<sockaddr_in>(address);
      return {Verdict::reaches, text_of_internet(AF_INET, &internet.sin_addr, internet.sin_port)};
    }
    case AF_INET6: {
      const auto internet = copy_of<sockaddr_in6>(address);
      return {Verdict::reaches, text_of_internet(AF_INET6, &internet.sin6_addr, internet.sin6_port)};
    }
    default:
      return {Verdict::reaches, "address family " + std::to_string(family)};
  }
}

}  // namespace hallmark::observe
