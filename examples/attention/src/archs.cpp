#include "archs.h"

namespace attention_library {
namespace {

constexpr int kDoesNotRun = -1;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

int cpu_fitness(std::string_view arch) {
  if (arch == "_") return 0;         // the compiler's own default
  if (arch == "native") return 100;  // whoever builds so promises to run it where it was built
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("popcnt") != 0;
  const bool v3 = v2 && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                  __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                  __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                  __builtin_cpu_supports("avx512vl") != 0;
  if (arch == "x86_64") return 1;
  if (arch == "x86_64_v2" && v2) return 2;
  if (arch == "x86_64_v3" && v3) return 3;
  if (arch == "x86_64_v4" && v4) return 4;
#elif defined(__aarch64__)
  // Later ones need features that only the system can tell; who builds for them alone knows the machine.
  if (arch == "armv8_a") return 2;
  if (starts_with(arch, "armv")) return 1;
#endif
  return kDoesNotRun;
}

int cuda_fitness(std::string_view arch, const attention_kernels::DeviceFacts& device) {
  if (arch == "_" || arch == "native") return 0;
  const bool is_ptx = starts_with(arch, "compute_");
  int number = 0;
  char suffix = 0;
  for (const char c : arch.substr(arch.find('_') + 1)) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + (c - '0');
    } else {
      suffix = c;
    }
  }
  const int own = device.major * 10 + device.minor;
  // "a": of this device alone; "f" and machine code: of the same major version; PTX: of any later device.
  const bool runs = suffix == 'a'             ? number == own
                    : suffix == 'f' || !is_ptx ? number / 10 == device.major && number <= own
                                               : number <= own;
  if (!runs) return kDoesNotRun;
  return 2 * number + (is_ptx ? 0 : 1);  // machine code before PTX of the same arch
}

int hip_fitness(std::string_view arch, const attention_kernels::DeviceFacts& device) {
  if (arch == "_" || arch == "native") return 0;
  const std::string_view own = device.arch;
  const bool is_same = starts_with(arch, own) && (arch.size() == own.size() || arch[own.size()] == '_');
  return is_same ? 1 : kDoesNotRun;
}

}  // namespace attention_library
