// Choices among the values of axes, checked against what the axes can be.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/internal/table_reader.h"
#include "manifest/manifest.h"

namespace hallmark::manifest {

/// The axes that a choice may speak of.
struct Domain {
  std::string lack;  ///< in messages: "library fmha has no axis"
  const std::vector<Axis>& axes;
  const std::vector<std::string>& without;  ///< axes that the kernel does not have
};

/// AXIS = scalar or list, in a table below `reader`. Empty if it is not there.
AxisChoice choice_below(TableReader& reader, std::string_view key, const Domain& domain);
/// The same, the table itself.
AxisChoice choice_of(const Node& table, std::string title, const Domain& domain, Problems& problems);
/// AXIS = scalar.
std::map<std::string, Value> point_below(TableReader& reader, std::string_view key, const Domain& domain);

}  // namespace hallmark::manifest
