// JSON of what several verbs show.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/reason.h"

namespace hallmark::cli {

using Json = nlohmann::ordered_json;

inline Json to_json(const model::Reason& reason) {
  return {{"code", model::name_of(reason.code)},
          {"subject", reason.subject},
          {"before", reason.before},
          {"after", reason.after},
          {"sentence", model::sentence(reason)}};
}

/// One line. Paths may hold any bytes: what is no UTF-8 becomes U+FFFD.
inline std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hallmark::cli
