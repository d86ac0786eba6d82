#include "manifest/internal/placeholders.h"

#include "base/format.h"
#include "manifest/internal/table_reader.h"

namespace hallmark::manifest {
namespace {

constexpr std::string_view kSource = "source.";

Error unknown(std::string_view text, std::string_view name, const std::vector<std::string>& sources,
              const std::vector<std::string>& more) {
  if (name.starts_with(kSource)) {
    name.remove_prefix(kSource.size());
    return {ErrorKind::invalid, formatted("\"{}\": no source is named \"{}\"", text, name),
            sources.empty() ? std::string("write a table [source.NAME]") : suggestion(name, sources)};
  }
  std::string known = "{root}, {source.NAME}";
  for (const auto& word : more) known += ", {" + word + "}";
  return {ErrorKind::invalid, formatted("\"{}\": unknown placeholder {{{}}}", text, name),
          formatted("known are {}; write {{{{ for a brace itself", known)};
}

}  // namespace

Result<std::string> with_values(std::string_view text, const ValueOf& value_of,
                                const std::vector<std::string>& sources,
                                const std::vector<std::string>& more) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      made += c;
      ++i;
    } else if (c != '{') {
      made += c;
    } else {
      const auto end = text.find('}', i);
      if (end == std::string_view::npos)
        return fail({ErrorKind::invalid, formatted("\"{}\": a brace is not closed", text),
                     "write {{ for a brace itself"});
      const std::string name(text.substr(i + 1, end - i - 1));
      const auto value = value_of(name);
      if (!value) return fail(unknown(text, name, sources, more));
      made += *value;
      i = end;
    }
  }
  return made;
}

bool leaves_root(std::string_view path) {
  if (path.starts_with('!')) path.remove_prefix(1);
  if (path.starts_with('{') || path.starts_with('/')) return false;
  while (!path.empty()) {
    const auto end = path.find('/');
    if (path.substr(0, end) == "..") return true;
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  return false;
}

}  // namespace hallmark::manifest
