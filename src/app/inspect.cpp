#include "app/inspect.h"

#include "app/prove.h"
#include "base/limits.h"
#include "base/path.h"

namespace hallmark::app {
namespace {

InspectedFile inspect_one(const Session& session, const std::string& spelled) {
  InspectedFile found{spelled, std::nullopt, std::nullopt};
  const auto bytes =
      os::read_file(session.files, path::join(session.cwd, spelled), limits::kInspectedFileBytes);
  if (!bytes.has_value()) {
    found.problem = bytes.error();
    return found;
  }
  auto facts = inspect::read_file_facts(*bytes);
  if (facts.has_value()) {
    found.facts = *std::move(facts);
  } else {
    found.problem = facts.error();
    found.problem->what = spelled + ": " + found.problem->what;
  }
  return found;
}

void find_collisions(const Session& session, Inspection& found) {
  std::vector<inspect::Together> together;
  std::vector<std::size_t> index;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < found.files.size(); ++i) {
    const auto& facts = found.files[i].facts;
    if (!facts || !facts->elf) continue;
    // One file under two names is loaded once.
    if (!seen.insert(real_or_spelled(session, found.files[i].file)).second) continue;
    inspect::Together each{&*facts->elf, {}};
    for (const auto& [kernel, targets] : facts->device.kernels()) each.kernels.insert(kernel);
    together.push_back(std::move(each));
    index.push_back(i);
  }
  found.collisions = inspect::find_collisions(together);
  for (auto& collision : found.collisions) {
    for (auto& definition : collision.definitions) definition.file = index[definition.file];
  }
}

void check_device(const inspect::Device& device, Inspection& found) {
  std::size_t kernels = 0;
  for (std::size_t i = 0; i < found.files.size(); ++i) {
    const auto& [file, facts, problem] = found.files[i];
    if (!facts) continue;
    for (const auto& doubt : facts->device.doubts)
      found.unknown.push_back({device.name(), file + ": " + doubt});
    for (const auto& [kernel, targets] : facts->device.kernels()) {
      ++kernels;
      if (!device.runs_one_of(targets)) found.lacks.push_back({i, kernel, device.name(), targets});
    }
  }
  // An answer about no kernel would be a yes that means nothing.
  if (kernels == 0) found.unknown.push_back({device.name(), "none of the files holds a kernel"});
}

}  // namespace

Result<Inspection> inspect_files(const Session& session, const InspectRequest& request) {
  std::vector<inspect::Device> devices;
  for (const auto& name : request.devices) {
    HALLMARK_TRY(auto device, inspect::Device::parse(name));
    devices.push_back(std::move(device));
  }
  Inspection found;
  for (const auto& file : request.files) found.files.push_back(inspect_one(session, file));
  find_collisions(session, found);
  for (const auto& device : devices) check_device(device, found);
  return found;
}

}  // namespace hallmark::app
