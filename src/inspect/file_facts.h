// FileFacts: all that `hallmark inspect` shows of one file.
//
// Contract: pure, reads bytes of any origin. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "inspect/device_code.h"
#include "inspect/elf_facts.h"

namespace hallmark::inspect {

enum class FileForm { elf, archive, fat_binary, offload_bundle, ptx };

struct FileFacts {
  FileForm form{};
  std::optional<ElfFacts> elf;  ///< of form elf
  std::uint64_t members = 0;    ///< of an archive
  DeviceCode device;
};

std::string_view name_of(FileForm form);

/// Errors: invalid (none of the forms), corrupt (truncated or malformed), unsupported.
Result<FileFacts> read_file_facts(std::string_view bytes);

}  // namespace hallmark::inspect
