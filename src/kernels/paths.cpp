#include "kernels/paths.h"

#include "base/format.h"

namespace hallmark::kernels::paths {

std::string generated_header(std::string_view name) {
  return formatted("include/hallmark/{}", name);
}
std::string generated_unit(std::string_view library, std::string_view file) {
  return formatted("units/{}/{}", library, file);
}
std::string generated(std::string_view file) {
  return formatted("gen/{}/{}", kOwnGenerator, file);
}
std::string codegen_folder(std::string_view codegen) {
  return formatted("gen/{}", codegen);
}
std::string codegen_list(std::string_view codegen) {
  return formatted("gen/{}.list", codegen);
}
std::string object(std::string_view library, std::string_view unit) {
  return formatted("obj/{}/{}.o", library, unit);
}
std::string description(std::string_view project) {
  return formatted("share/hallmark/{}.json", project);
}

}  // namespace hallmark::kernels::paths
