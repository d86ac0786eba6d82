// The device that this thread's calls go to.
#include <cstdio>

#include "../gpu/numbers.h"

namespace attention_kernels {

Outcome HALLMARK_NAME(const Arguments& a) {
  int device = 0;
  auto error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&a.device->major, cudaDevAttrComputeCapabilityMajor, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&a.device->minor, cudaDevAttrComputeCapabilityMinor, device);
  if (error != cudaSuccess) return {Failure::no_device, cudaGetErrorString(error)};
  std::snprintf(a.device->arch, sizeof a.device->arch, "sm_%d%d", a.device->major, a.device->minor);
  return {};
}

}  // namespace attention_kernels
