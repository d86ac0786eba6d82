#include "observe/internal/program_file.h"

#include <elf.h>

#include <array>
#include <cstring>
#include <string_view>

#include "base/limits.h"

namespace hallmark::observe {
namespace {

constexpr std::size_t kHeadBytes =
    4096;  // the kernel looks at 256 for #!; program headers follow the ELF header
constexpr std::size_t kChunkBytes = 64u << 10;
constexpr std::uint64_t kFarthestByte = 1u << 30;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string interpreter_of_script(std::string_view head) {
  std::string_view line = head.substr(2, head.find('\n') - 2);
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  std::size_t length = 0;
  while (length < line.size() && !is_blank(line[length]) && line[length] != '\0' && line[length] != '\r')
    ++length;
  return std::string(line.substr(0, length));
}

/// Up to `length` bytes from `offset` on; fewer at the end of the file or beyond kFarthestByte.
std::string read_range(os::FileSystem& files, const std::string& path, std::uint64_t offset,
                       std::size_t length) {
  auto file = files.open_read(path);
  if (!file || offset > kFarthestByte) return {};
  Bytes buffer(kChunkBytes);
  std::string range;
  for (std::uint64_t at = 0; range.size() < length;) {
    const auto count = (*file)->read(buffer);
    if (!count || *count == 0) break;
    const std::string_view chunk = as_text(ByteView(buffer).first(*count));
    if (at + chunk.size() > offset) {
      const std::size_t skip = at < offset ? static_cast<std::size_t>(offset - at) : 0;
      range.append(chunk.substr(skip, length - range.size()));
    }
    at += chunk.size();
  }
  return range;
}

/// A part of the file: from its head where that reaches so far (as it does unless patchelf was at work).
std::string part(os::FileSystem& files, const std::string& path, std::string_view head, std::uint64_t offset,
                 std::size_t length) {
  if (offset <= head.size() && length <= head.size() - offset) {
    return std::string(head.substr(static_cast<std::size_t>(offset), length));
  }
  return read_range(files, path, offset, length);
}

/// PT_INTERP of a 64-bit ELF file.
std::string loader_of_elf(os::FileSystem& files, const std::string& path, std::string_view head) {
  Elf64_Ehdr header;
  std::memcpy(&header, head.data(), sizeof header);
  const std::string segments = part(files, path, head, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  for (std::size_t at = 0; at + sizeof(Elf64_Phdr) <= segments.size(); at += sizeof(Elf64_Phdr)) {
    Elf64_Phdr segment;
    std::memcpy(&segment, segments.data() + at, sizeof segment);
    if (segment.p_type != PT_INTERP || segment.p_filesz > limits::kPathBytes) continue;
    const std::string name =
        part(files, path, head, segment.p_offset, static_cast<std::size_t>(segment.p_filesz));
    return name.substr(0, name.find('\0'));
  }
  return {};
}

}  // namespace

ProgramFile read_program_file(os::FileSystem& files, const std::string& path) {
  ProgramFile program;
  auto file = files.open_read(path);
  if (!file) return program;
  std::array<std::uint8_t, kHeadBytes> buffer;
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const auto count = (*file)->read(std::span(buffer).subspan(filled));
    if (!count || *count == 0) break;
    filled += *count;
  }
  const std::string_view head = as_text(ByteView(buffer).first(filled));
  if (head.starts_with("#!")) {
    program.kind = ProgramFile::Kind::script;
    program.interpreter = interpreter_of_script(head);
  } else if (head.size() >= sizeof(Elf64_Ehdr) && head.starts_with(ELFMAG)) {
    program.kind = ProgramFile::Kind::elf;
    std::uint16_t machine = 0;
    std::memcpy(&machine, head.data() + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
    program.foreign = head[EI_CLASS] != ELFCLASS64 || machine != EM_X86_64;
    if (!program.foreign) program.interpreter = loader_of_elf(files, path, head);
  }
  return program;
}

}  // namespace hallmark::observe
