// CodeTarget and Device: what a piece of device code was made for, and on what it runs.
//
// The rules are those of the vendors. NVIDIA: a cubin runs on devices of its major number and no smaller
// minor number (a Tegra one only on its own), PTX is compiled by the driver for every device that is not
// older; with suffix `a` either runs on exactly that device, with `f` on those of its major number that are
// not older. AMD: a code object runs on its gfx target, if xnack and sramecc are set as it wants them; the
// -generic ones run on a family.
//
// Contract: pure. Thread-safe.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hallmark::inspect {

enum class CodeForm {
  cubin,    ///< machine code of an NVIDIA device
  ptx,      ///< compiled by the driver when it is loaded
  lto,      ///< for link-time optimization: runs nowhere before a device link
  amd,      ///< machine code of an AMD device
  bitcode,  ///< of LLVM, before a device link
  other,
};

struct CodeTarget {
  CodeForm form = CodeForm::other;
  std::string arch;  ///< "90a", "gfx90a:xnack-"

  /// "sm_90a", "compute_90", "lto_90", "gfx90a:xnack-".
  std::string name() const;
  /// Whether something is left to do before it can be loaded.
  bool needs_link() const {
    return form != CodeForm::cubin && form != CodeForm::ptx && form != CodeForm::amd;
  }
  auto operator<=>(const CodeTarget&) const = default;
};

class Device {
 public:
  /// Of "sm_90", "90", "9.0", "sm_90a" (the same device), "gfx90a", "gfx90a:xnack+". Errors: invalid.
  static Result<Device> parse(std::string_view text);

  /// "sm_90", "gfx90a:xnack+".
  const std::string& name() const { return name_; }

  /// Whether one of them runs on it. A feature that it does not tell (xnack, sramecc) may be on or off: then
  /// there must be one for each.
  bool runs_one_of(const std::set<CodeTarget>& targets) const;

 private:
  bool runs(const CodeTarget& target, std::string_view features) const;

  std::string name_;
  std::optional<unsigned> sm_;  ///< 90
  std::string gfx_;             ///< "gfx90a"
  std::string features_;        ///< ":sramecc+:xnack-", what was told
};

}  // namespace hallmark::inspect
