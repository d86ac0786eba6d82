// Tracker, third part: the Observation at the end.
#include <algorithm>
#include <bit>

#include "observe/internal/tracker.h"

namespace hallmark::observe {

using model::Use;

std::uint8_t Tracker::uses_that_count(NodeId id) const {
  const Node& node = tree_[id];
  std::uint8_t uses = node.uses;
  if (node.change != kNone && changes_[node.change].ever_whole && !counted_absences_.contains(id)) {
    uses &= static_cast<std::uint8_t>(~(use_bit(Use::kind) | use_bit(Use::size) | use_bit(Use::mtime)));
  }
  // Content says all that kind would, unless the file can be executed.
  const FileStat* state = tree_.state_of(id);
  if ((uses & use_bit(Use::content)) != 0 && state != nullptr && !state->executable()) {
    uses &= static_cast<std::uint8_t>(~use_bit(Use::kind));
  }
  return uses;
}

void Tracker::add_inputs_of(NodeId id, std::vector<model::ObservedInput>& inputs) const {
  const Node& node = tree_[id];
  const std::uint8_t uses = uses_that_count(id);
  const FileStat* state = tree_.state_of(id);
  const auto digest = digests_.find(id);
  for (const Use use : {Use::content, Use::kind, Use::listing, Use::link, Use::size, Use::mtime}) {
    if ((uses & use_bit(use)) == 0) continue;
    model::ObservedInput input;
    input.path = tree_.path_of(id);
    input.use = use;
    if (state != nullptr && !node.absent) input.stat = *state;
    input.before_own_change = counted_absences_.contains(id);
    if (use == Use::content && digest != digests_.end()) input.digest = digest->second;
    if (use == Use::link) input.target = tree_.text(targets_.at(id));
    if (use == Use::listing) {
      const std::string& names = listings_.at(id);
      for (std::size_t at = 0; at < names.size();) {
        const std::size_t end = names.find('\0', at);
        input.names.emplace_back(names, at, end - at);
        at = end + 1;
      }
    }
    inputs.push_back(std::move(input));
  }
}

void Tracker::find_searched_folders() {
  const auto was_missed = [this](NodeId id) {
    return tree_[id].absent && (tree_[id].uses & use_bit(Use::kind)) != 0;
  };
  for (const Change& change : changes_) {
    if (change.before || !change.ever_whole) continue;
    // Where there was none, there was nothing below it either.
    for (NodeId at = change.node; is_internal(at); at = tree_[at].parent) {
      if (!was_missed(at)) continue;
      note_searched(change.node);
      break;
    }
  }
  for (const NodeId missed : missed_below_) {
    if (tree_[missed].change != kNone) continue;  // it made it afterwards, as it would where there is one
    for (NodeId at = tree_[missed].parent; at != kRootNode; at = tree_[at].parent) {
      if (!is_internal(at)) continue;
      note_searched(at);
      break;
    }
  }
}

void Tracker::finish(model::Observation& into) {
  find_searched_folders();
  // A run with very many paths comes to its peak here: give back what is done with, and never let the result
  // move.
  seen_.release();
  resolver_.release();
  tree_.release_index();
  std::size_t count = 0;
  for (NodeId id = 0; id < tree_.size(); ++id)
    count += static_cast<std::size_t>(std::popcount(uses_that_count(id)));
  into.inputs.reserve(count);
  for (NodeId id = 0; id < tree_.size(); ++id) {
    if (tree_[id].uses != 0) add_inputs_of(id, into.inputs);
  }
  std::sort(into.inputs.begin(), into.inputs.end(),
            [](const auto& a, const auto& b) { return a.path != b.path ? a.path < b.path : a.use < b.use; });
  for (const Change& change : changes_) {
    std::string path = tree_.path_of(change.node);
    const auto answer = files_.lstat(path);
    const std::optional<FileStat> now = answer ? *answer : std::nullopt;
    if (now == change.before) continue;
    if (now) {
      const bool searched = now->kind == NodeKind::directory && searched_.contains(change.node);
      into.outputs.push_back({std::move(path), now->kind, change.whole, change.before, searched});
    } else {
      into.removals.push_back({std::move(path), change.before->kind});
    }
  }
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  std::sort(into.outputs.begin(), into.outputs.end(), by_path);
  std::sort(into.removals.begin(), into.removals.end(), by_path);
  into.programs = std::move(programs_);
  into.doubts.insert(into.doubts.end(), doubts_.begin(), doubts_.end());
}

}  // namespace hallmark::observe
