#include "kernels/internal/command_words.h"

#include "base/format.h"

namespace hallmark::kernels {

using manifest::ToolchainKind;

Words arch_words(ToolchainKind kind, const std::vector<std::string>& archs) {
  Words words;
  if (kind == ToolchainKind::cpu) {
    if (archs.size() == 1) words.push_back("-march=" + archs.front());
    return words;
  }
  for (const auto& arch : archs) {
    if (kind == ToolchainKind::hip) {
      words.push_back("--offload-arch=" + arch);
      continue;
    }
    if (arch == "native") {
      words.push_back("-arch=native");
      continue;
    }
    // "sm_90a" is code for that device, "compute_90a" the PTX that later ones compile for themselves.
    const std::string number = arch.substr(arch.find('_') + 1);
    words.emplace_back("-gencode");
    words.push_back(formatted("arch=compute_{},code={}", number, arch));
  }
  return words;
}

Words host_words(ToolchainKind kind, const Words& words) {
  if (kind != ToolchainKind::cuda) return words;
  Words wrapped;
  for (const auto& word : words) {
    wrapped.emplace_back("-Xcompiler");
    wrapped.push_back(word);
  }
  return wrapped;
}

Words compiler_words(const Tool& tool, std::string_view file, std::string_view standard,
                     const std::vector<std::pair<std::string, std::string>>& prefix_maps) {
  Words words = {tool.program};
  const bool is_c = file.ends_with(".c") || file.ends_with(".S");
  if (file.ends_with(".c") && tool.kind == ToolchainKind::cpu) {
    words.insert(words.end(), {"-x", "c"});  // a C++ compiler takes .c for C++
  }
  if (!is_c) words.push_back(formatted("-std=c++{}", standard));
  if (tool.kind == ToolchainKind::cuda && !tool.host_compiler.empty())
    words.insert(words.end(), {"-ccbin", tool.host_compiler});
  Words host = {"-fPIC"};
  for (const auto& [from, to] : prefix_maps) host.push_back(formatted("-ffile-prefix-map={}={}", from, to));
  for (auto& word : host_words(tool.kind, host)) words.push_back(std::move(word));
  return words;
}

Words link_words(const Tool& tool, const std::vector<std::string>& archs, const LinkWish& wish) {
  Words words = {tool.program, "-shared"};
  if (tool.kind == ToolchainKind::cuda && !tool.host_compiler.empty())
    words.insert(words.end(), {"-ccbin", tool.host_compiler});
  if (tool.kind != ToolchainKind::cpu)
    for (auto& word : arch_words(tool.kind, archs)) words.push_back(std::move(word));
  Words linker = {"-soname=" + wish.soname};
  if (!wish.version_script.empty()) linker.push_back("--version-script=" + wish.version_script);
  for (const auto& folder : wish.rpath) linker.push_back("-rpath=" + folder);
  for (const auto& word : linker) {
    if (tool.kind == ToolchainKind::cuda) {
      words.insert(words.end(), {"-Xlinker", word});
    } else {
      words.push_back("-Wl," + word);
    }
  }
  return words;
}

std::string definition(std::string_view name, std::string_view value) {
  return formatted("-D{}={}", name, value);
}

}  // namespace hallmark::kernels
