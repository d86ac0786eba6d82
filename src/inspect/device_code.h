// DeviceCode: the code for GPUs that a file holds, and the kernels in it.
//
// Looked into: ELF files and what nvcc and hipcc embed in them (.nv_fatbin, __nv_relfatbin of objects,
// .hip_fatbin, __CLANG_OFFLOAD_BUNDLE__*), archives of them, fat binaries, offload bundles, cubins, AMD code
// objects, PTX. What cannot be read is a doubt: nobody can say that a kernel is not there.
//
// A kernel is what the host may launch: an entry function of a cubin or of PTX, or the NAME of a kernel
// descriptor NAME.kd of AMD's. Its name is that of the symbol (mangled).
//
// Contract: pure, reads bytes of any origin, at most kDeviceCodeDepth levels of nesting. Thread-safe.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inspect/device_target.h"

namespace hallmark::inspect {

inline constexpr int kDeviceCodeDepth = 6;
inline constexpr std::size_t kDeviceImages = 1u << 20;  ///< of one file; further ones are a doubt

struct DeviceImage {
  CodeTarget target;
  std::string member;  ///< of the archive in which it lies; empty: none
  std::vector<std::string> kernels;
};

struct DeviceCode {
  std::vector<DeviceImage> images;
  std::vector<std::string> doubts;

  std::set<CodeTarget> targets() const;
  /// Kernel -> what its code was made for.
  std::map<std::string, std::set<CodeTarget>> kernels() const;
};

/// Empty for bytes of another form. Never fails: what cannot be read is a doubt.
DeviceCode read_device_code(std::string_view bytes);

/// True if the bytes are text that begins as PTX does.
bool is_ptx(std::string_view bytes);

}  // namespace hallmark::inspect
