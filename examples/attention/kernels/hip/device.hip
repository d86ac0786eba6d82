// The device that this thread's calls go to.
#include <cstdio>

#include "../gpu/numbers.h"

namespace attention_kernels {

Outcome HALLMARK_NAME(const Arguments& a) {
  int device = 0;
  hipDeviceProp_t properties{};
  auto error = hipGetDevice(&device);
  if (error == hipSuccess) error = hipGetDeviceProperties(&properties, device);
  if (error != hipSuccess) return {Failure::no_device, hipGetErrorString(error)};
  a.device->major = properties.major;
  a.device->minor = properties.minor;
  // "gfx90a:sramecc+:xnack-": features follow the name.
  for (int i = 0; i < 63 && properties.gcnArchName[i] != 0 && properties.gcnArchName[i] != ':'; ++i)
    a.device->arch[i] = properties.gcnArchName[i];
  return {};
}

}  // namespace attention_kernels
