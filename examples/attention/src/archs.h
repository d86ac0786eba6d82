// Which arch's code runs on which machine.
#pragma once

#include <string_view>

#include "../kernels/arguments.h"

namespace attention_library {

/// How well code for `arch` ("x86_64_v3", "native", "_") fits this machine's processor: higher is better, negative:
/// it does not run here.
int cpu_fitness(std::string_view arch);

/// The same for an arch of CUDA ("sm_80", "sm_90a", "compute_80") on a device of this compute capability.
int cuda_fitness(std::string_view arch, const attention_kernels::DeviceFacts& device);

/// The same for an arch of HIP ("gfx90a", "gfx90a_xnack_").
int hip_fitness(std::string_view arch, const attention_kernels::DeviceFacts& device);

}  // namespace attention_library
