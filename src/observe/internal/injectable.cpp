#include "observe/internal/injectable.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

#include "base/path.h"

namespace hallmark::observe {
namespace {

constexpr std::uint32_t kModeSetId = 06000;
constexpr std::size_t kHeaderBytes = 4096;
constexpr std::size_t kProgramHeadersMax = 256;
constexpr std::size_t kDynamicMaxBytes = 64u << 10;
constexpr std::size_t kNameBytes = 256;
constexpr std::size_t kNeededMax = 512;

/// Reads up to `bytes`; shorter at the end of the file or on failure.
std::string read_part(os::RandomFile& file, std::uint64_t offset, std::size_t bytes) {
  std::string part(bytes, '\0');
  const auto got =
      file.read_at(offset, {reinterpret_cast<std::uint8_t*>(part.data()), static_cast<std::size_t>(bytes)});
  part.resize(got ? *got : 0);
  return part;
}

template <class T>
std::optional<T> item_at(std::string_view bytes, std::uint64_t offset) {
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& parts, std::uint64_t address) {
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz) {
      return part.p_offset + (address - part.p_vaddr);
    }
  }
  return std::nullopt;
}

bool is_glibc_loader(std::string_view interpreter) {
  const std::size_t slash = interpreter.rfind('/');
  return slash != std::string_view::npos && interpreter.substr(slash + 1).starts_with("ld-linux-x86-64.so");
}

bool needs_sanitizer(os::RandomFile& file, const std::vector<Elf64_Phdr>& parts, const Elf64_Phdr& dynamic) {
  const std::string entries =
      read_part(file, dynamic.p_offset, std::min<std::size_t>(dynamic.p_filesz, kDynamicMaxBytes));
  std::vector<std::uint64_t> names;
  std::optional<std::uint64_t> text;
  for (std::uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
    const auto entry = item_at<Elf64_Dyn>(entries, at);
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED && names.size() < kNeededMax) names.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_STRTAB) text = file_offset(parts, entry->d_un.d_ptr);
  }
  if (!text) return !names.empty();  // cannot be told: better no agent
  for (const std::uint64_t name : names) {
    std::string library = read_part(file, *text + name, kNameBytes);
    library.resize(std::strlen(library.c_str()));
    // libasan.so.8, libclang_rt.asan-x86_64.so, libclang_rt.hwasan-...
    if (library.find("asan") != std::string::npos) return true;
  }
  return false;
}

struct Elf {
  Elf64_Half type = ET_NONE;
  std::vector<Elf64_Phdr> parts;
};

/// nullopt: no ELF file of this machine, or damaged.
std::optional<Elf> read_elf(os::RandomFile& file) {
  const std::string head = read_part(file, 0, kHeaderBytes);
  const auto header = item_at<Elf64_Ehdr>(head, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64 ||
      header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > kProgramHeadersMax) {
    return std::nullopt;
  }
  const std::string table = read_part(file, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr));
  Elf elf;
  elf.type = header->e_type;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto part = item_at<Elf64_Phdr>(table, i * sizeof(Elf64_Phdr));
    if (!part) return std::nullopt;
    elf.parts.push_back(*part);
  }
  return elf;
}

}  // namespace

Status check_agent_library(os::FileSystem& files, const std::string& path) {
  HALLMARK_TRY(const auto file, files.open_random(path, false));
  HALLMARK_TRY(const FileStat stat, file->stat());
  const auto elf = read_elf(*file);
  bool whole = elf && elf->type == ET_DYN;
  bool dynamic = false;
  for (const Elf64_Phdr& part : elf ? elf->parts : std::vector<Elf64_Phdr>()) {
    if (part.p_offset > stat.size_bytes || stat.size_bytes - part.p_offset < part.p_filesz) whole = false;
    if (part.p_type == PT_DYNAMIC) dynamic = true;
  }
  if (whole && dynamic) return {};
  return fail(
      {ErrorKind::corrupt, path + " is no whole shared library of this machine", "install hallmark anew"});
}

AgentObstacle agent_obstacle(os::FileSystem& files, const std::string& program) {
  const auto file = files.open_random(program, false);
  if (!file) return AgentObstacle::unreadable;
  const auto stat = (*file)->stat();
  if (!stat || stat->kind != NodeKind::file) return AgentObstacle::unreadable;
  if ((stat->mode & kModeSetId) != 0) return AgentObstacle::privileged;

  const auto elf = read_elf(**file);
  if (!elf) return AgentObstacle::unreadable;
  const Elf64_Phdr* dynamic = nullptr;
  bool glibc = false;
  for (const Elf64_Phdr& part : elf->parts) {
    if (part.p_type == PT_DYNAMIC) dynamic = &part;
    if (part.p_type == PT_INTERP) {
      const std::string name =
          read_part(**file, part.p_offset, std::min<std::size_t>(part.p_filesz, kNameBytes));
      glibc = is_glibc_loader(name.c_str());
    }
  }
  if (!glibc || dynamic == nullptr) return AgentObstacle::own_loader;
  return needs_sanitizer(**file, elf->parts, *dynamic) ? AgentObstacle::sanitizer : AgentObstacle::none;
}

}  // namespace hallmark::observe
