// The Tracker against a plain model of the same thing: whatever a command does, its outputs are what it
// changed on the disk, and its inputs are what it used of what was there before.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "base/path.h"
#include "observed_world.h"

namespace hallmark::observe {
namespace {

enum class Op { read, look, list, write, append, remove, rename, make_folder, remove_folder };

struct Step {
  Op op;
  std::string path;
  std::string second;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  static const char* const kNames[] = {"read",   "look",   "list",        "write",        "append",
                                       "remove", "rename", "make_folder", "remove_folder"};
  return out << kNames[static_cast<int>(step.op)] << " " << step.path << " " << step.second;
}

rc::Gen<std::string> any_path() {
  return rc::gen::map(rc::gen::tuple(rc::gen::element<std::string>("/w", "/w/d0", "/w/d1", "/w/d2"),
                                     rc::gen::element<std::string>("/a", "/b", "/c", "")),
                      [](const std::tuple<std::string, std::string>& parts) {
                        return std::get<0>(parts) + std::get<1>(parts);
                      });
}

rc::Gen<Step> any_step() {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::op,
                   rc::gen::element(Op::read, Op::read, Op::look, Op::list, Op::write, Op::write, Op::append,
                                    Op::remove, Op::rename, Op::rename, Op::make_folder, Op::remove_folder)),
      rc::gen::set(&Step::path, any_path()), rc::gen::set(&Step::second, any_path()));
}

/// The disk by path, and for each node whether the command made it.
class Model {
 public:
  explicit Model(ObservedWorld& world) : world_(world) {}

  void put(const std::string& path, bool folder) {
    nodes_[path] = {folder, false};
    before_.insert(path);
  }

  void run(const Step& step) {
    const bool exists = nodes_.contains(step.path);
    const bool folder = exists && nodes_[step.path].folder;
    const bool placed = is_folder(std::string(path::parent(step.path)));
    switch (step.op) {
      case Op::read:
        world_.read(step.path);
        if (exists && !folder) use(step.path);
        if (!exists) miss(step.path);
        return;
      case Op::look:
        world_.look(step.path);
        if (!exists) miss(step.path);
        return;
      case Op::list:
        world_.list(step.path);
        return;
      case Op::write:
      case Op::append:
        if (folder || step.path == "/w") return;
        if (!placed) {
          world_.report(Access::open_write, step.path, O_WRONLY | O_CREAT);
          return;
        }
        if (step.op == Op::write) {
          world_.write(step.path, "new " + std::to_string(++counter_));
          make(step.path, false);
        } else {
          world_.append(step.path, std::to_string(++counter_));
          if (exists && !nodes_[step.path].own) may_use_.insert(step.path);
          if (!exists) {
            append_new(step.path);
            make(step.path, false);
          }
        }
        return;
      case Op::remove:
        world_.remove(step.path);
        if (exists && !folder) gone(step.path);
        return;
      case Op::make_folder:
        world_.make_folder(step.path);
        if (!exists && placed) make(step.path, true);
        return;
      case Op::remove_folder:
        if (step.path == "/w") return;
        world_.remove_folder(step.path);
        if (folder && !has_children(step.path)) gone(step.path);
        return;
      case Op::rename:
        rename(step);
        return;
    }
  }

  void check() {
    std::set<std::string> contents;
    std::set<std::string> absent;
    for (const auto& input : world_.finish().inputs) {
      if (input.use == model::Use::content) contents.insert(input.path);
      if (input.use == model::Use::kind && !input.stat) absent.insert(input.path);
      RC_ASSERT(input.use == model::Use::listing || !made_first_.contains(input.path) ||
                appended_.contains(input.path));
    }
    for (const std::string& path : used_) RC_ASSERT(contents.contains(path));
    for (const std::string& path : contents) RC_ASSERT(used_.contains(path) || may_use_.contains(path));
    for (const std::string& path : missed_) {
      if (!ever_made_.contains(path)) RC_ASSERT(absent.contains(path));
    }
    for (const std::string& path : needs_absence_) RC_ASSERT(absent.contains(path));
    std::set<std::string> outputs;
    for (const auto& output : world_.finish().outputs) {
      outputs.insert(output.path);
      RC_ASSERT(nodes_.contains(output.path));
      RC_ASSERT(output.before.has_value() == before_.contains(output.path));
    }
    std::set<std::string> removals;
    for (const auto& removal : world_.finish().removals) removals.insert(removal.path);
    for (const auto& [path, node] : nodes_) {
      if (node.own || !before_.contains(path)) RC_ASSERT(outputs.contains(path));
    }
    for (const std::string& path : before_) RC_ASSERT(removals.contains(path) == !nodes_.contains(path));
    for (const std::string& path : removals) RC_ASSERT(before_.contains(path));
    RC_ASSERT(world_.doubts().empty());
  }

 private:
  struct Node {
    bool folder = false;
    bool own = false;
  };

  void rename(const Step& step) {
    const std::string& from = step.path;
    const std::string& to = step.second;
    const bool exists = nodes_.contains(from);
    // What the kernel refuses, and folders of others (whose contents would go along), are left out.
    if (from == "/w" || to == "/w" || from == to || !is_folder(std::string(path::parent(to)))) return;
    if (path::is_within(to, from) || path::is_within(from, to)) return;
    if (exists && nodes_[from].folder && !nodes_[from].own) return;
    if (exists && nodes_.contains(to) && (nodes_[to].folder != nodes_[from].folder || has_children(to)))
      return;
    world_.rename(from, to);
    if (!exists) return;
    if (!nodes_[from].own) may_use_.insert(from);
    std::vector<std::pair<std::string, Node>> moved;
    for (const auto& [path, node] : nodes_) {
      if (path::is_within(path, from)) moved.emplace_back(to + path.substr(from.size()), node);
    }
    std::erase_if(nodes_, [&](const auto& item) { return path::is_within(item.first, from); });
    for (const auto& [path, node] : moved) make(path, node.folder);
  }

  void use(const std::string& path) {
    if (!nodes_[path].own) used_.insert(path);
  }
  void miss(const std::string& path) {
    // The first missing name is what counts, unless the command itself took it away or made the folder around
    // it.
    std::string missing = path;
    while (!nodes_.contains(std::string(path::parent(missing)))) missing = path::parent(missing);
    const auto& above = nodes_[std::string(path::parent(missing))];
    if (!above.own && !before_.contains(missing) && above.folder) missed_.insert(missing);
  }
  /// What an append leaves depends on there having been nothing.
  void append_new(const std::string& path) {
    appended_.insert(path);
    const bool in_own_folder = nodes_[std::string(path::parent(path))].own;
    if (!in_own_folder && !before_.contains(path) && !ever_made_.contains(path)) needs_absence_.insert(path);
  }
  void make(const std::string& path, bool folder) {
    if (!nodes_.contains(path) && !used_.contains(path) && !may_use_.contains(path)) made_first_.insert(path);
    nodes_[path] = {folder, true};
    ever_made_.insert(path);
  }
  void gone(const std::string& path) { nodes_.erase(path); }
  bool is_folder(const std::string& path) const {
    const auto found = nodes_.find(path);
    return found != nodes_.end() && found->second.folder;
  }
  bool has_children(const std::string& folder) const {
    for (const auto& [path, node] : nodes_) {
      if (path != folder && path::is_within(path, folder)) return true;
    }
    return false;
  }

  ObservedWorld& world_;
  std::map<std::string, Node> nodes_;
  std::set<std::string> before_;
  std::set<std::string> used_;     // read, and not the command's own
  std::set<std::string> may_use_;  // appended to or renamed
  std::set<std::string> missed_;   // probed, absent
  std::set<std::string> ever_made_;
  std::set<std::string> appended_;  // made by an append
  std::set<std::string> needs_absence_;
  std::set<std::string> made_first_;  // made by the command before anything of it was used
  int counter_ = 0;
};

RC_GTEST_PROP(TrackerProperty, InputsAndOutputsAreThoseOfAPlainModel, ()) {
  ObservedWorld world;
  Model model(world);
  model.put("/w", true);
  for (const char* folder : {"/w/d0", "/w/d1"}) {
    (void)world.files.make_folder(folder, 0755);
    model.put(folder, true);
  }
  for (const char* file : {"/w/a", "/w/d0/a", "/w/d0/b"}) {
    world.files.put(file, "old");
    model.put(file, false);
  }
  for (const Step& step : *rc::gen::container<std::vector<Step>>(any_step())) model.run(step);
  model.check();
}

}  // namespace
}  // namespace hallmark::observe
