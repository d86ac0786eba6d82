// PTX: the text in which nvcc keeps code that a driver compiles. Read here is only what it was made for, and
// which kernels it defines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hallmark::inspect {

struct PtxFacts {
  std::string arch;  ///< "90a" of `.target sm_90a`; empty: it has no target
  std::vector<std::string> kernels;
};

PtxFacts read_ptx(std::string_view text);

}  // namespace hallmark::inspect
