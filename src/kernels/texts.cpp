#include "kernels/texts.h"

#include <algorithm>
#include <cctype>

#include "base/format.h"

namespace hallmark::kernels {
namespace {

constexpr std::string_view kMadeBy = "Made by `hallmark build` from hallmark.toml; edits here are lost.";

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string arch_of(const manifest::Unit& unit) {
  const bool has_own = unit.kernel != nullptr && unit.kernel->per_arch && unit.archs.size() == 1;
  return has_own ? manifest::arch_identifier(unit.archs.front()) : "_";
}

/// In C's double quotes, as GNU as reads them too.
std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string namespace_header(std::string_view library, std::string_view name_space) {
  return formatted(
      "// {}\n"
      "// The namespace of library {}. Include it only where the public interface is defined: whoever "
      "includes it is\n"
      "// compiled anew when the namespace changes.\n"
      "#pragma once\n\n"
      "#define HALLMARK_NAMESPACE {}\n",
      kMadeBy, library, name_space);
}

std::string variants_table(const manifest::ExpandedLibrary& library,
                           const std::vector<manifest::Unit>& units) {
  const auto& axes = library.library->axes;
  std::string text = formatted("// {}\n// HALLMARK_KERNEL(kernel, name, toolchain, arch", kMadeBy);
  for (const auto& axis : axes) text += ", " + axis.name;
  text += ")\n";
  for (const auto& unit : units) {
    if (unit.kernel == nullptr) continue;
    text += formatted("HALLMARK_KERNEL({}, {}, {}, {}", unit.kernel->name, unit.name,
                      manifest::name_of(unit.toolchain), arch_of(unit));
    for (const auto& axis : axes) {
      const auto has =
          std::ranges::find(unit.axes, axis.name, &std::pair<std::string, manifest::Value>::first);
      text += ", " + (has == unit.axes.end() ? "_" : has->second.text);
    }
    text += ")\n";
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> unit_definitions(const manifest::Unit& unit) {
  std::vector<std::pair<std::string, std::string>> definitions = {{"HALLMARK_NAME", unit.name}};
  if (const auto arch = arch_of(unit); arch != "_") definitions.emplace_back("HALLMARK_ARCH", arch);
  for (const auto& [axis, value] : unit.axes) definitions.emplace_back("HALLMARK_AXIS_" + axis, value.text);
  return definitions;
}

Result<std::string> instance_of(std::string_view text, const manifest::Unit& unit) {
  std::vector<std::pair<std::string, std::string>> words = {{"HALLMARK_NAME", unit.name},
                                                            {"HALLMARK_ARCH", arch_of(unit)}};
  for (const auto& [axis, value] : unit.axes) words.emplace_back(axis, value.text);

  std::string made;
  made.reserve(text.size());
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') ++line;
    std::size_t end = i + 1;
    while (text[i] == '@' && end < text.size() && is_word(text[end])) ++end;
    const bool is_placeholder = text[i] == '@' && end > i + 1 && end < text.size() && text[end] == '@';
    if (!is_placeholder) {
      made += text[i];
      continue;
    }
    const auto name = text.substr(i + 1, end - i - 1);
    const auto found =
        std::ranges::find(words, name, [](const auto& word) { return std::string_view(word.first); });
    if (found == words.end()) {
      std::string known;
      for (const auto& word : words) known += (known.empty() ? "@" : ", @") + word.first + "@";
      return fail({ErrorKind::invalid, formatted("{}: @{}@ is no axis of this kernel", line, name),
                   formatted("known are {}", known)});
    }
    made += found->second;
    i = end;
  }
  return made;
}

std::string version_script(const std::vector<std::string>& exports) {
  std::string c_names;
  std::string cxx_names;
  for (const auto& pattern : exports) {
    auto& names = pattern.find("::") == std::string::npos ? c_names : cxx_names;
    names += formatted("    {};\n", pattern);
  }
  std::string text = formatted("/* {} */\n{{\n", kMadeBy);
  if (!exports.empty()) text += "  global:\n" + c_names;
  if (!cxx_names.empty()) text += "    extern \"C++\" {\n" + cxx_names + "    };\n";
  return text + "  local:\n    *;\n};\n";
}

std::string embedding(const std::vector<std::pair<std::string, std::string>>& files) {
  // 4096: code objects are ELF files that loaders map by pages.
  std::string text = formatted("# {}\n  .section .rodata.hallmark_embedded,\"a\"\n", kMadeBy);
  for (const auto& [file, symbol] : files)
    text += formatted(
        "  .balign 4096\n  .globl {0}, {0}_end, {0}_size\n  .type {0}, %object\n{0}:\n  .incbin "
        "{1}\n{0}_end:\n"
        "  .size {0}, . - {0}\n  .balign 8\n  .type {0}_size, %object\n  .size {0}_size, 8\n"
        "{0}_size:\n  .quad {0}_end - {0}\n",
        symbol, in_quotes(file));
  return text + "  .section .note.GNU-stack,\"\",%progbits\n";
}

std::string embedding_header(std::string_view library, const std::vector<manifest::EmbeddedFile>& files) {
  std::string text = formatted(
      "// {}\n// The files that library {} embeds.\n#pragma once\n\n#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
      kMadeBy, library);
  for (const auto& file : files)
    text += formatted(
        "extern const unsigned char {0}[];\nextern const unsigned char {0}_end[];\n"
        "extern const uint64_t {0}_size;  // bytes\n",
        file.symbol);
  return text + "#ifdef __cplusplus\n}\n#endif\n";
}

}  // namespace hallmark::kernels
