// The kernels that this build really holds, as a table: from the generated hallmark/attention_variants.inc.
#pragma once

#include <string_view>

#include "../kernels/arguments.h"

namespace attention_library {

/// One compiled kernel. A value is "_" where the kernel has no such axis.
struct Variant {
  std::string_view kernel;         ///< "forward_mma", "backward_cpu", "device_cuda"
  std::string_view toolchain;      ///< "cpu", "cuda", "hip"
  std::string_view arch;           ///< "x86_64_v3", "sm_90"; "_": of no arch of its own
  std::string_view dtype;          ///< "f32", "f16", "bf16"
  std::string_view head_dim;       ///< "64", "128"
  std::string_view causal;         ///< "true", "false"
  std::string_view deterministic;  ///< "true", "false"
  attention_kernels::Kernel* run;
};

/// All of them, in the order of the manifest.
struct VariantList {
  const Variant* first;
  const Variant* last;
  const Variant* begin() const { return first; }
  const Variant* end() const { return last; }
};
VariantList built_variants();

}  // namespace attention_library
