// What `config` and `doctor` show.
#pragma once

#include <string>

#include "app/doctor.h"
#include "app/session.h"

namespace hallmark::cli {

std::string settings_text(const app::Session& session);
std::string settings_json(const app::Session& session);
std::string diagnosis_text(const app::Session& session, const app::Diagnosis& found);
std::string diagnosis_json(const app::Session& session, const app::Diagnosis& found);

}  // namespace hallmark::cli
