#include "prove/witness.h"

#include "engine/answers.h"
#include "prove/internal/compile_words.h"
#include "prove/internal/include_reach.h"
#include "prove/internal/places.h"

namespace hallmark::prove {
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

IncludeWitness::IncludeWitness(os::FileSystem& files)
    : files_(files), reach_(std::make_unique<IncludeReach>(files)) {}
IncludeWitness::~IncludeWitness() = default;

std::optional<StepReads> IncludeWitness::of(const BuildEdge& edge) {
  if (!is_compile(files_, edge)) return std::nullopt;
  StepReads reads{Testimony::includes, {}, {}};
  for (auto& file : reach_->of(edge)) {
    if (file.certain) reads.read.push_back(std::move(file.path));
  }
  return reads;
}

bool is_compile(os::FileSystem& files, const BuildEdge& edge) {
  return !compiles_of(files, edge).empty();
}

std::optional<ScratchCommand> command_into(os::FileSystem& files, const BuildEdge& edge,
                                           const std::string& folder, std::string& why_not) {
  auto compile = compile_into(files, edge, folder, why_not);
  if (!compile) return std::nullopt;
  return ScratchCommand{std::move(compile->argv), std::move(compile->cwd)};
}

}  // namespace hallmark::prove
