#include "variants.h"

namespace attention_kernels {

#define HALLMARK_KERNEL(kernel, name, toolchain, arch, dtype, head_dim, causal, deterministic) \
  Outcome name(const Arguments&);
#include "hallmark/attention_variants.inc"
#undef HALLMARK_KERNEL

}  // namespace attention_kernels

namespace attention_library {
namespace {

// The last one stands for none: an array may not be empty, and a build may.
#define HALLMARK_KERNEL(kernel, name, toolchain, arch, dtype, head_dim, causal, deterministic) \
  {#kernel, #toolchain, #arch, #dtype, #head_dim, #causal, #deterministic, &attention_kernels::name},
constexpr Variant kVariants[] = {
#include "hallmark/attention_variants.inc"
    {}};
#undef HALLMARK_KERNEL

}  // namespace

VariantList built_variants() {
  return {kVariants, kVariants + sizeof kVariants / sizeof kVariants[0] - 1};
}

}  // namespace attention_library
