#include "prove/witness.h"

#include <string_view>

#include "base/path.h"
#include "engine/answers.h"
#include "prove/internal/audit_findings.h"
#include "prove/internal/include_reach.h"
#include "prove/internal/places.h"

namespace hallmark::prove {
namespace {

/// Replaces `word` where it stands alone in a shell's text or behind -o, -MF, -MT or a comma. False: nowhere.
bool replace_word(std::string& text, std::string_view word, const std::string& with) {
  constexpr std::string_view kBefore = " \t\n='\",";
  constexpr std::string_view kBehind = " \t\n'\",;&|)";
  bool found = false;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const auto before = std::string_view(text).substr(0, at);
    const auto behind = std::string_view(text).substr(at + word.size());
    const bool begins = before.empty() || kBefore.find(before.back()) != std::string_view::npos ||
                        before.ends_with(" -o") || before.ends_with(" -MF") || before.ends_with(" -MT");
    const bool ends = behind.empty() || kBehind.find(behind.front()) != std::string_view::npos;
    if (!begins || !ends) {
      at += word.size();
      continue;
    }
    text.replace(at, word.size(), with);
    at += with.size();
    found = true;
  }
  return found;
}

}  // namespace

std::string_view name_of(Testimony testimony) {
  switch (testimony) {
    case Testimony::record:
      return "recorded";
    case Testimony::observed:
      return "observed";
    case Testimony::includes:
      return "#include lines";
  }
  return "unknown";
}

const model::Places* RecordWitness::places(const digest::Key& key) {
  const auto [known, is_new] = places_.try_emplace(key);
  if (is_new) {
    if (auto read = store_.places(key); read.has_value()) known->second = *std::move(read);
  }
  return known->second ? &*known->second : nullptr;
}

std::optional<StepReads> RecordWitness::of(const std::string& output) {
  const auto hashed = store_.hasher().hash(output);
  if (!hashed.has_value()) return std::nullopt;
  const auto makers = store_.makers_of(hashed->digest, store::place_of(output));
  if (!makers.has_value() || makers->empty() || !makers->front().strong) return std::nullopt;
  const auto& maker = makers->front();
  const auto derivation = store_.derivation(*maker.strong);
  const auto* logged = places(maker.places);
  if (!derivation.has_value() || !*derivation || logged == nullptr) return std::nullopt;
  const auto tokens = tokens_of(*logged);
  StepReads reads{Testimony::record, {}, {}};
  const auto& questions = (*derivation)->paths.questions;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (questions[i].aspect != model::Aspect::content || !engine::digest_in((*derivation)->answers[i]))
      continue;
    if (auto path = tokens.unfold(questions[i].subject)) reads.read.push_back(*std::move(path));
  }
  const auto record = store_.record(*maker.strong);
  if (record.has_value() && *record) {
    for (const auto& made : (*record)->outputs) {
      auto path = tokens.unfold(made.path);
      if (path && made.kind == NodeKind::file) reads.written.push_back(*std::move(path));
    }
  }
  return reads;
}

IncludeWitness::IncludeWitness(os::FileSystem& files) : reach_(std::make_unique<IncludeReach>(files)) {}
IncludeWitness::~IncludeWitness() = default;

std::optional<StepReads> IncludeWitness::of(const BuildEdge& edge) {
  if (language_of(edge).empty()) return std::nullopt;
  StepReads reads{Testimony::includes, {}, {}};
  for (auto& file : reach_->of(edge.command, edge.cwd)) {
    if (file.certain) reads.read.push_back(std::move(file.path));
  }
  return reads;
}

bool is_compile(const BuildEdge& edge) {
  return !language_of(edge).empty();
}

std::string moved_output(const std::string& output, const std::string& folder) {
  return folder + output;
}

std::optional<std::string> command_into(const BuildEdge& edge, const std::string& folder) {
  if (language_of(edge).empty()) return std::nullopt;
  auto command = edge.command;
  bool is_output_named = false;
  // Each as the build spells it and as an absolute path. The dependency file's name often begins with the
  // output's: it comes first.
  const auto move = [&](const std::string& path) {
    const auto below = path::relative_below(path, edge.cwd);
    const auto moved = moved_output(path, folder);
    const bool found = replace_word(command, path, moved);
    return (below != path && replace_word(command, below, moved)) || found;
  };
  if (!edge.depfile.empty()) move(edge.depfile);
  for (const auto& output : edge.outputs) is_output_named = move(output) || is_output_named;
  return is_output_named ? std::optional(std::move(command)) : std::nullopt;
}

}  // namespace hallmark::prove
