#include "inspect/file_facts.h"

#include "inspect/archive.h"
#include "inspect/fat_binary.h"
#include "inspect/internal/elf_image.h"
#include "inspect/offload_bundle.h"

namespace hallmark::inspect {
namespace {

Result<FileForm> form_of(std::string_view bytes) {
  if (is_elf(bytes)) return FileForm::elf;
  if (is_archive(bytes)) return FileForm::archive;
  if (is_fat_binary(bytes)) return FileForm::fat_binary;
  if (is_offload_bundle(bytes)) return FileForm::offload_bundle;
  if (is_ptx(bytes)) return FileForm::ptx;
  return fail(
      {ErrorKind::invalid,
       bytes.empty() ? "it is empty" : "it is no ELF file, archive, fat binary, offload bundle or PTX",
       "name an object, library, program, cubin or the like"});
}

}  // namespace

std::string_view name_of(FileForm form) {
  switch (form) {
    case FileForm::elf:
      return "elf";
    case FileForm::archive:
      return "archive";
    case FileForm::fat_binary:
      return "fat_binary";
    case FileForm::offload_bundle:
      return "offload_bundle";
    case FileForm::ptx:
      return "ptx";
  }
  return "unknown";
}

Result<FileFacts> read_file_facts(std::string_view bytes) {
  FileFacts facts;
  HALLMARK_TRY(facts.form, form_of(bytes));
  if (facts.form == FileForm::elf) {
    HALLMARK_TRY(facts.elf, read_elf_facts(bytes));
  } else if (facts.form == FileForm::archive) {
    HALLMARK_CHECK(for_each_member(bytes, [&](std::string_view, std::string_view) { ++facts.members; }));
  } else if (facts.form == FileForm::fat_binary) {
    HALLMARK_CHECK(for_each_part(bytes, [](const FatBinaryPart&) {}));
  } else if (facts.form == FileForm::offload_bundle) {
    HALLMARK_CHECK(for_each_entry(bytes, [](const BundleEntry&) {}));
  }
  facts.device = read_device_code(bytes);
  return facts;
}

}  // namespace hallmark::inspect
