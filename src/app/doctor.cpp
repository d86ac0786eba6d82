#include "app/doctor.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>

#include "base/format.h"
#include "base/path.h"

namespace hallmark::app {
namespace {

constexpr std::array kTools = {"g++",  "clang++", "nvcc",    "hipcc",  "ninja",
                               "make", "cmake",   "python3", "ccache", "sccache"};

struct FileSystemName {
  long magic;
  const char* name;
};
// XFS and ZFS have their numbers in their own headers only.
constexpr std::array<FileSystemName, 13> kFileSystems = {{
    {EXT4_SUPER_MAGIC, "ext4"},
    {BTRFS_SUPER_MAGIC, "btrfs"},
    {0x58465342, "xfs"},
    {0x2FC12FC1, "zfs"},
    {TMPFS_MAGIC, "tmpfs"},
    {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
    {NFS_SUPER_MAGIC, "nfs"},
    {SMB_SUPER_MAGIC, "smb"},
    {0xFF534D42, "cifs"},
    {FUSE_SUPER_MAGIC, "fuse"},
    {V9FS_MAGIC, "9p"},
    {F2FS_SUPER_MAGIC, "f2fs"},
    {SQUASHFS_MAGIC, "squashfs"},
}};

std::string file_system_of(std::string folder) {
  struct statfs found {};
  while (statfs(folder.c_str(), &found) != 0) {
    if (folder.size() <= 1) return "unknown";
    folder = path::parent(folder);
  }
  for (const FileSystemName& known : kFileSystems)
    if (known.magic == static_cast<long>(found.f_type)) return known.name;
  return formatted("of type {:#x}", static_cast<unsigned long>(found.f_type));
}

std::string on_path(const model::Environment& environment, std::string_view name) {
  const auto entry = environment.find("PATH");
  std::string_view rest = entry == environment.end() ? std::string_view() : std::string_view(entry->second);
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    std::string candidate = path::join(rest.substr(0, colon), name);
    if (candidate.starts_with('/') && access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return {};
}

}  // namespace

std::optional<model::Tier> Diagnosis::best_tier() const {
  for (const observe::TierStatus& status : tiers)
    if (status.works && status.tier != model::Tier::none) return status.tier;
  return std::nullopt;
}

bool Diagnosis::healthy() const {
  return best_tier().has_value() && store_usable && !store_read_only;
}

Diagnosis diagnose(const Session& session) {
  Diagnosis found;
  utsname system{};
  if (uname(&system) == 0)
    found.kernel = formatted("{} {} {}", system.sysname, system.release, system.machine);
  found.tiers = observe::probe_tiers(session.installation.agent);
  if (const auto store = open_store(session); store.has_value()) {
    found.store_usable = true;
    found.store_read_only = (*store)->read_only();
  } else {
    found.store_problem = store.error().message();
  }
  if (!session.settings.store.value.empty()) {
    found.store_filesystem = file_system_of(session.settings.store.value);
    found.store_on_network = session.files.is_network(session.settings.store.value).value_or(false);
  }
  for (const char* name : kTools) found.tools.push_back({name, on_path(session.environment, name)});
  return found;
}

}  // namespace hallmark::app
