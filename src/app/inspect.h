// Use case: what foreign files say of themselves, and what goes wrong if they load together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "inspect/collisions.h"
#include "inspect/file_facts.h"

namespace hallmark::app {

struct InspectRequest {
  std::vector<std::string> files;    ///< as spelled
  std::vector<std::string> devices;  ///< "sm_90", "gfx90a:xnack+": each kernel must run on each of them
};

struct InspectedFile {
  std::string file;                         ///< as spelled
  std::optional<inspect::FileFacts> facts;  ///< nullopt: `problem` says why
  std::optional<Error> problem;
};

/// A kernel without code that runs on a device that was asked for.
struct Lack {
  std::size_t file = 0;
  std::string kernel;
  std::string device;
  std::set<inspect::CodeTarget> has;
};

/// A device of which nothing can be said.
struct Unknown {
  std::string device;
  std::string why;
};

struct Inspection {
  std::vector<InspectedFile> files;
  std::vector<inspect::Collision> collisions;  ///< their indices are those of `files`
  std::vector<Lack> lacks;
  std::vector<Unknown> unknown;
};

/// Errors: invalid (a device has no known name). A file that cannot be read is no error: it has its problem.
Result<Inspection> inspect_files(const Session& session, const InspectRequest& request);

}  // namespace hallmark::app
