#include "inspect/device_code.h"

#include <algorithm>

#include "inspect/archive.h"
#include "inspect/fat_binary.h"
#include "inspect/internal/device_elf.h"
#include "inspect/internal/ptx.h"
#include "inspect/offload_bundle.h"

namespace hallmark::inspect {
namespace {

constexpr std::string_view kBundleSection = "__CLANG_OFFLOAD_BUNDLE__";

class Reader {
 public:
  /// `named`: the target that the container tells; nullptr: the bytes must tell.
  void read(std::string_view bytes, const CodeTarget* named, int depth) {
    if (depth > kDeviceCodeDepth) {
      doubt("device code is nested more than kDeviceCodeDepth levels deep");
    } else if (is_elf(bytes)) {
      read_elf(bytes, named, depth);
    } else if (is_archive(bytes)) {
      check(for_each_member(bytes, [&](std::string_view name, std::string_view member) {
        const auto outer = std::exchange(member_, std::string(name));
        read(member, nullptr, depth + 1);
        member_ = outer;
      }));
    } else if (is_fat_binary(bytes)) {
      check(for_each_part(bytes, [&](const FatBinaryPart& part) { read_part(part, depth); }));
    } else if (is_offload_bundle(bytes)) {
      check(for_each_entry(bytes, [&](const BundleEntry& entry) {
        const CodeTarget target{CodeForm::amd, std::string(entry.target)};
        if (!entry.target.empty() && !entry.bytes.empty()) read(entry.bytes, &target, depth + 1);
      }));
    } else if (is_ptx(bytes)) {
      auto facts = read_ptx(bytes);
      add(named != nullptr ? *named : CodeTarget{CodeForm::ptx, facts.arch}, std::move(facts.kernels));
    } else if (named != nullptr) {
      read_unknown(bytes, *named);
    }
  }

  DeviceCode take() { return std::move(code_); }

 private:
  void doubt(std::string text) {
    if (!member_.empty()) text = member_ + ": " + text;
    if (std::find(code_.doubts.begin(), code_.doubts.end(), text) == code_.doubts.end())
      code_.doubts.push_back(std::move(text));
  }

  void check(const Status& status) {
    if (!status) doubt(status.error().what);
  }

  void add(CodeTarget target, std::vector<std::string> kernels) {
    if (code_.images.size() >= kDeviceImages) {
      doubt("it holds more than kDeviceImages pieces of device code");
      return;
    }
    code_.images.push_back({std::move(target), member_, std::move(kernels)});
  }

  void read_part(const FatBinaryPart& part, int depth) {
    CodeTarget target{CodeForm::other, std::to_string(part.arch)};
    if (part.suffix != '\0') target.arch.push_back(part.suffix);
    switch (part.kind) {
      case PartKind::ptx: {
        target.form = CodeForm::ptx;
        add(std::move(target), read_ptx(part.bytes).kernels);
        return;
      }
      case PartKind::cubin:
        target.form = CodeForm::cubin;
        read(part.bytes, &target, depth + 1);
        return;
      case PartKind::lto:
        target.form = CodeForm::lto;
        add(std::move(target), {});
        return;
    }
    doubt("a fat binary has a part of unknown kind " + std::to_string(static_cast<unsigned>(part.kind)));
    add(std::move(target), {});
  }

  /// What a container says is code for a device, and has none of the known forms.
  void read_unknown(std::string_view bytes, CodeTarget target) {
    constexpr std::string_view kBitcode = "BC\xC0\xDE";
    constexpr std::string_view kSpirv = "\x03\x02\x23\x07";
    if (bytes.starts_with(kBitcode)) {
      target.form = CodeForm::bitcode;
    } else if (!bytes.starts_with(kSpirv)) {
      target.form = CodeForm::other;
      doubt("the code for " + target.arch + " has an unknown form");
    }
    if (target.form == CodeForm::amd) doubt("the kernels of SPIR-V code are not read");
    add(std::move(target), {});
  }

  void read_elf(std::string_view bytes, const CodeTarget* named, int depth) {
    const auto image = ElfImage::open(bytes);
    if (!image.has_value()) {
      doubt(image.error().what);
      return;
    }
    if (is_cubin(*image)) {
      add(named != nullptr ? *named : CodeTarget{CodeForm::cubin, arch_of_cubin(*image)},
          kernels_of_cubin(*image));
    } else if (is_amd_code_object(*image)) {
      auto arch = arch_of_code_object(*image);
      if (named == nullptr && arch.empty())
        doubt("an AMD code object without metadata: its target is not known");
      add(named != nullptr ? *named : CodeTarget{CodeForm::amd, std::move(arch)},
          kernels_of_code_object(*image));
    } else {
      read_host(*image, depth);
    }
    check(image->check_texts());
  }

  void read_host(const ElfImage& image, int depth) {
    const bool is_object = image.header().e_type == ET_REL;
    for (const auto& section : image.sections()) {
      // What waits for a device link stays in a linked file, and is loaded by nobody.
      if (section.name == ".nv_fatbin" || section.name == ".hip_fatbin" ||
          (section.name == "__nv_relfatbin" && is_object)) {
        if (!section.content.empty()) read_embedded(section, depth);
      } else if (section.name.starts_with(kBundleSection) && !section.content.empty()) {
        const CodeTarget target{
            CodeForm::amd, std::string(target_of_bundle_name(section.name.substr(kBundleSection.size())))};
        if (!target.arch.empty()) read(section.content, &target, depth + 1);
      } else if (section.name == ".llvm.offloading" && !section.content.empty()) {
        doubt("its section .llvm.offloading (clang's new driver) is not read");
      }
    }
  }

  void read_embedded(const ImageSection& section, int depth) {
    if ((section.header.sh_flags & SHF_COMPRESSED) != 0 ||
        !(is_fat_binary(section.content) || is_offload_bundle(section.content))) {
      doubt("its section " + std::string(section.name) + " has an unknown form");
      return;
    }
    read(section.content, nullptr, depth + 1);
  }

  DeviceCode code_;
  std::string member_;
};

}  // namespace

std::set<CodeTarget> DeviceCode::targets() const {
  std::set<CodeTarget> found;
  for (const auto& image : images) found.insert(image.target);
  return found;
}

std::map<std::string, std::set<CodeTarget>> DeviceCode::kernels() const {
  std::map<std::string, std::set<CodeTarget>> found;
  for (const auto& image : images) {
    for (const auto& kernel : image.kernels) found[kernel].insert(image.target);
  }
  return found;
}

bool is_ptx(std::string_view bytes) {
  // nvcc puts a comment of some lines before the version.
  constexpr std::size_t kHeadBytes = 4096;
  auto head = bytes.substr(0, kHeadBytes);
  while (head.starts_with("//") || head.starts_with('\n') || head.starts_with('\r'))
    head.remove_prefix(std::min(head.find('\n'), head.size() - 1) + 1);
  return head.starts_with(".version ");
}

DeviceCode read_device_code(std::string_view bytes) {
  Reader reader;
  reader.read(bytes, nullptr, 0);
  return reader.take();
}

}  // namespace hallmark::inspect
