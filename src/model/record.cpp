#include "model/record.h"

#include <algorithm>
#include <cassert>

namespace hallmark::model {
namespace {

using digest::Decoder;
using digest::Encoder;

constexpr std::string_view kStrongKeyDomain = "hallmark strong key 1";
/// Hashing goes in pieces of about this size: one large buffer would cost more in page faults than in
/// hashing.
constexpr std::size_t kHashPieceBytes = 8u << 10;

Error malformed(std::string_view what) {
  return Error{ErrorKind::corrupt, std::string(what) + " is malformed", {}};
}

void put_texts(Encoder& out, const std::vector<std::string>& texts) {
  out.number(texts.size());
  for (const std::string& text : texts) out.text(text);
}

std::vector<std::string> get_texts(Decoder& in) {
  std::vector<std::string> texts;
  const std::size_t count = in.count();
  texts.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) texts.emplace_back(in.text());
  return texts;
}

void put_optional(Encoder& out, const std::optional<digest::Digest>& digest) {
  out.flag(digest.has_value());
  if (digest) out.digest(*digest);
}

std::optional<digest::Digest> get_optional(Decoder& in) {
  if (!in.flag()) return std::nullopt;
  return in.digest();
}

/// A number that must lie in [low, high]; else the input is malformed.
std::uint64_t get_within(Decoder& in, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t value = in.number();
  if (value >= low && value <= high) return value;
  in.reject();
  return low;
}

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

void put_named(Encoder& out, const NamedTexts& named) {
  out.number(named.size());
  for (const auto& [name, value] : named) out.text(name).text(value);
}

NamedTexts get_named(Decoder& in) {
  NamedTexts named;
  const std::size_t count = in.count(2);
  named.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const std::string_view name = in.text();
    named.emplace_back(name, in.text());
  }
  return named;
}

void put_command(Encoder& out, const CommandText& command) {
  put_texts(out, command.argv);
  out.text(command.cwd);
  put_named(out, command.environment);
  put_texts(out, command.others);
}

CommandText get_command(Decoder& in) {
  CommandText command;
  command.argv = get_texts(in);
  command.cwd = in.text();
  command.environment = get_named(in);
  command.others = get_texts(in);
  return command;
}

std::size_t shared_prefix(std::string_view a, std::string_view b) {
  const std::size_t limit = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(limit), b.begin()).first - a.begin());
}

/// Questions in order, each subject as the length that it shares with the one before and the rest (front
/// coding).
class QuestionWriter {
 public:
  explicit QuestionWriter(Encoder& out) : out_(out) {}
  void put(const Question& question) {
    const std::size_t shared = question.aspect == aspect_ ? shared_prefix(previous_, question.subject) : 0;
    out_.number(static_cast<std::uint64_t>(question.aspect)).number(shared);
    out_.text(std::string_view(question.subject).substr(shared));
    aspect_ = question.aspect;
    previous_ = question.subject;
  }

 private:
  Encoder& out_;
  Aspect aspect_{};
  std::string_view previous_;
};

std::vector<Question> get_questions(Decoder& in) {
  constexpr std::size_t kSmallestQuestionBytes = 3;
  const std::size_t count = in.count(kSmallestQuestionBytes);
  std::vector<Question> questions;
  questions.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const auto aspect = static_cast<Aspect>(get_within(in, static_cast<std::uint64_t>(Aspect::content),
                                                       static_cast<std::uint64_t>(Aspect::bound)));
    const bool same_aspect = !questions.empty() && questions.back().aspect == aspect;
    const std::string_view previous =
        same_aspect ? std::string_view(questions.back().subject) : std::string_view{};
    const std::uint64_t shared = in.number();
    const std::string_view rest = in.text();
    // One value, one encoding: the shared part is as long as can be, and the order strict.
    const bool longest = shared <= previous.size() &&
                         (rest.empty() || shared == previous.size() || rest.front() != previous[shared]);
    if (!in.ok() || !longest) {
      in.reject();
      break;
    }
    std::string subject;
    subject.reserve(shared + rest.size());
    subject.append(previous.substr(0, shared)).append(rest);
    Question question{aspect, std::move(subject)};
    if (!questions.empty() && !(questions.back() < question)) in.reject();
    questions.push_back(std::move(question));
  }
  return questions;
}

/// The questions of all sets, each once, in order.
std::vector<const Question*> merged_questions(const std::vector<SeenSet>& sets) {
  std::vector<const Question*> all;
  for (const SeenSet& set : sets) {
    std::vector<const Question*> merged;
    merged.reserve(all.size() + set.paths.questions.size());
    auto known = all.begin();
    for (const Question& question : set.paths.questions) {
      while (known != all.end() && **known < question) merged.push_back(*known++);
      if (known != all.end() && **known == question) ++known;
      merged.push_back(&question);
    }
    merged.insert(merged.end(), known, all.end());
    all = std::move(merged);
  }
  return all;
}

/// All sets as one table: the sets of a command differ little, so each question is written once, each of its
/// answers once, and a set is a column of small numbers: 0 for a question that it does not ask, n for the
/// n-th answer.
void put_sets(Encoder& out, const std::vector<SeenSet>& sets) {
  const std::vector<const Question*> questions = merged_questions(sets);
  out.number(questions.size());
  QuestionWriter writer(out);
  for (const Question* question : questions) writer.put(*question);

  std::vector<std::size_t> next(sets.size(), 0);  // the next question of each set
  std::vector<std::uint64_t> columns(sets.size() * questions.size(), 0);
  std::vector<const Answer*> answers;
  for (std::size_t q = 0; q < questions.size(); ++q) {
    answers.clear();
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const SeenSet& set = sets[s];
      if (next[s] == set.paths.questions.size() || set.paths.questions[next[s]] != *questions[q]) continue;
      const Answer& answer = set.answers[next[s]++];
      auto known =
          std::find_if(answers.begin(), answers.end(), [&](const Answer* a) { return *a == answer; });
      if (known == answers.end()) known = answers.insert(answers.end(), &answer);
      columns[s * questions.size() + q] = static_cast<std::uint64_t>(known - answers.begin()) + 1;
    }
    out.number(answers.size());
    for (const Answer* answer : answers) out.text(*answer);
  }
  out.number(sets.size());
  for (const std::uint64_t cell : columns) out.number(cell);
}

std::vector<SeenSet> get_sets(Decoder& in) {
  std::vector<Question> questions = get_questions(in);
  std::vector<std::string_view> answers;  // of all questions
  std::vector<std::size_t> first_answer;  // per question: its first in `answers`; one more at the end
  answers.reserve(questions.size());
  first_answer.reserve(questions.size() + 1);
  for (std::size_t q = 0; q < questions.size() && in.ok(); ++q) {
    first_answer.push_back(answers.size());
    const std::size_t count = in.count();
    if (count == 0 || count > limits::kPathSetsPerWeakKey) in.reject();
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
      const std::string_view answer = in.text();
      const auto begin = answers.begin() + static_cast<std::ptrdiff_t>(first_answer.back());
      if (std::find(begin, answers.end(), answer) != answers.end()) in.reject();
      answers.push_back(answer);
    }
  }
  first_answer.push_back(answers.size());

  std::vector<SeenSet> sets;
  const std::uint64_t count = get_within(in, 0, limits::kPathSetsPerWeakKey);
  if (!in.ok()) return sets;
  sets.resize(count);
  std::vector<std::uint8_t> used(questions.size(), 0);  // answers used so far; each appears first in order
  for (std::uint64_t s = 0; s < count && in.ok(); ++s) {
    SeenSet& set = sets[s];
    if (in.remaining_bytes() < questions.size()) in.reject();
    if (!in.ok()) break;
    set.paths.questions.reserve(questions.size());
    set.answers.reserve(questions.size());
    for (std::size_t q = 0; q < questions.size() && in.ok(); ++q) {
      const std::uint64_t cell = in.number();
      if (cell == 0) continue;
      if (cell > first_answer[q + 1] - first_answer[q] || cell > used[q] + 1u) {
        in.reject();
        break;
      }
      if (cell > used[q]) used[q] = static_cast<std::uint8_t>(cell);
      if (count == 1) {
        set.paths.questions.push_back(std::move(questions[q]));
      } else {
        set.paths.questions.push_back(questions[q]);
      }
      set.answers.emplace_back(answers[first_answer[q] + cell - 1]);
    }
  }
  for (std::size_t q = 0; q < questions.size() && in.ok(); ++q) {
    if (used[q] != first_answer[q + 1] - first_answer[q]) in.reject();
  }
  return sets;
}

bool is_set(const PathSet& paths, const std::vector<Answer>& answers) {
  const auto out_of_order = [](const Question& a, const Question& b) { return b <= a; };
  return answers.size() == paths.questions.size() &&
         std::adjacent_find(paths.questions.begin(), paths.questions.end(), out_of_order) ==
             paths.questions.end();
}

void put_output(Encoder& out, const RecordedOutput& output) {
  out.text(output.path)
      .number(static_cast<std::uint64_t>(output.kind))
      .number(output.mode)
      .number(static_cast<std::uint64_t>(output.role))
      .digest(output.content)
      .text(output.target);
}

RecordedOutput get_output(Decoder& in) {
  RecordedOutput output;
  output.path = in.text();
  output.kind = static_cast<NodeKind>(get_within(in, 0, static_cast<std::uint64_t>(NodeKind::other)));
  output.mode = static_cast<std::uint32_t>(get_within(in, 0, 07777));
  output.role =
      static_cast<OutputRole>(get_within(in, 0, static_cast<std::uint64_t>(OutputRole::searched_folder)));
  output.content = in.digest();
  output.target = in.text();
  return output;
}

}  // namespace

digest::Key strong_key(const digest::Key& weak_key, const PathSet& paths,
                       const std::vector<Answer>& answers) {
  assert(paths.questions.size() == answers.size());
  digest::Hasher hasher;
  Encoder piece;
  piece.text(kStrongKeyDomain).hash(weak_key.hash).number(paths.questions.size());
  for (std::size_t i = 0; i < paths.questions.size(); ++i) {
    const Question& question = paths.questions[i];
    piece.number(static_cast<std::uint64_t>(question.aspect)).text(question.subject).text(answers[i]);
    if (piece.bytes().size() < kHashPieceBytes) continue;
    hasher.update(piece.bytes());
    piece.clear();
  }
  hasher.update(piece.bytes());
  return digest::Key{hasher.finish().hash};
}

bool is_well_formed(const WeakEntry& entry) {
  return std::all_of(entry.sets.begin(), entry.sets.end(),
                     [](const SeenSet& set) { return is_set(set.paths, set.answers); });
}

bool is_well_formed(const Derivation& derivation) {
  return is_set(derivation.paths, derivation.answers);
}

std::string encode(const WeakEntry& entry) {
  assert(is_well_formed(entry));
  Encoder out;
  put_command(out, entry.command);
  put_sets(out, entry.sets);
  return out.take();
}

Result<WeakEntry> decode_weak_entry(std::string_view bytes) {
  Decoder in(bytes);
  WeakEntry entry;
  entry.command = get_command(in);
  entry.sets = get_sets(in);
  if (!in.finished()) return fail(malformed("weak entry"));
  return entry;
}

std::string encode(const Record& record) {
  Encoder out;
  out.hash(record.weak_key.hash);
  out.number(record.outputs.size());
  for (const RecordedOutput& output : record.outputs) put_output(out, output);
  put_optional(out, record.out);
  put_optional(out, record.err);
  out.number(static_cast<std::uint64_t>(record.tier));
  out.signed_number(record.created_ns).signed_number(record.wall_ns).number(record.peak_rss_bytes);
  put_texts(out, record.programs);
  out.number(record.notes.size());
  for (const Reason& note : record.notes) encode(out, note);
  return out.take();
}

Result<Record> decode_record(std::string_view bytes) {
  Decoder in(bytes);
  Record record;
  record.weak_key.hash = in.hash();
  constexpr std::size_t kSmallestOutputBytes = 38;
  const std::size_t outputs = in.count(kSmallestOutputBytes);
  record.outputs.reserve(outputs);
  for (std::size_t i = 0; i < outputs && in.ok(); ++i) record.outputs.push_back(get_output(in));
  record.out = get_optional(in);
  record.err = get_optional(in);
  record.tier = static_cast<Tier>(
      get_within(in, static_cast<std::uint64_t>(Tier::hybrid), static_cast<std::uint64_t>(Tier::none)));
  record.created_ns = in.signed_number();
  record.wall_ns = in.signed_number();
  record.peak_rss_bytes = in.number();
  record.programs = get_texts(in);
  constexpr std::size_t kSmallestReasonBytes = 4;
  const std::size_t notes = in.count(kSmallestReasonBytes);
  record.notes.reserve(notes);
  for (std::size_t i = 0; i < notes && in.ok(); ++i) record.notes.push_back(decode_reason(in));
  if (!in.finished()) return fail(malformed("record"));
  return record;
}

std::string encode(const Derivation& derivation) {
  assert(is_well_formed(derivation));
  Encoder out;
  out.hash(derivation.weak_key.hash);
  put_command(out, derivation.command);
  put_sets(out, {{derivation.paths, derivation.answers}});
  return out.take();
}

Result<Derivation> decode_derivation(std::string_view bytes) {
  Decoder in(bytes);
  Derivation derivation;
  derivation.weak_key.hash = in.hash();
  derivation.command = get_command(in);
  auto sets = get_sets(in);
  if (!in.finished() || sets.size() != 1) return fail(malformed("derivation"));
  derivation.paths = std::move(sets.front().paths);
  derivation.answers = std::move(sets.front().answers);
  return derivation;
}

std::string encode(const Places& places) {
  Encoder out;
  put_named(out, places);
  return out.take();
}

Result<Places> decode_places(std::string_view bytes) {
  Decoder in(bytes);
  auto places = get_named(in);
  if (!in.finished()) return fail(malformed("list of places"));
  return places;
}

}  // namespace hallmark::model
