#include "engine/answers.h"

#include <algorithm>

namespace hallmark::engine {
namespace {

constexpr char kAbsent = '-';
constexpr char kDigest = 'c';
constexpr char kKind = 'k';
constexpr char kNames = 'n';
constexpr char kText = 't';
constexpr char kNumber = 'i';
constexpr char kUnknown = '?';
constexpr std::size_t kShownDigits = 12;

std::string_view kind_word(const FileStat& stat) {
  switch (stat.kind) {
    case NodeKind::directory:
      return "folder";
    case NodeKind::symlink:
      return "link";
    case NodeKind::file:
      return stat.executable() ? "executable file" : "file";
    case NodeKind::other:
      return "device, socket or fifo";
  }
  return "unknown";
}

std::string with_mark(char mark, std::string_view rest) {
  std::string answer(1, mark);
  answer.append(rest);
  return answer;
}

}  // namespace

model::Answer answer_absent() {
  return std::string(1, kAbsent);
}

model::Answer answer_digest(const digest::Digest& digest) {
  digest::Encoder out;
  out.digest(digest);
  return with_mark(kDigest, out.bytes());
}

model::Answer answer_kind(const std::optional<FileStat>& stat) {
  return stat ? with_mark(kKind, kind_word(*stat)) : answer_absent();
}

model::Answer answer_names(std::span<const std::string> names, std::span<const std::string> own) {
  digest::Encoder out;
  for (const auto& name : names) {
    if (!is_unlisted_name(name) && !std::binary_search(own.begin(), own.end(), name)) out.text(name);
  }
  return with_mark(kNames, as_text(digest::digest_of(out.bytes()).hash));
}

model::Answer answer_text(std::string_view text) {
  return with_mark(kText, text);
}

model::Answer answer_number(std::int64_t value) {
  return with_mark(kNumber, std::to_string(value));
}

model::Answer answer_unknown(std::string_view why) {
  return with_mark(kUnknown, why);
}

std::optional<digest::Digest> digest_in(const model::Answer& answer) {
  if (answer.empty() || answer.front() != kDigest) return std::nullopt;
  digest::Decoder in(std::string_view(answer).substr(1));
  const auto digest = in.digest();
  return in.finished() ? std::optional(digest) : std::nullopt;
}

bool is_absent(const model::Answer& answer) {
  return answer.size() == 1 && answer.front() == kAbsent;
}

bool is_unknown(const model::Answer& answer) {
  return !answer.empty() && answer.front() == kUnknown;
}

std::string describe(const model::Answer& answer) {
  if (answer.empty()) return "nothing";
  const std::string_view rest = std::string_view(answer).substr(1);
  switch (answer.front()) {
    case kAbsent:
      return "absent";
    case kDigest:
    case kNames:
      return to_hex(as_bytes(rest.substr(0, std::min(rest.size(), kShownDigits / 2))));
    case kUnknown:
      return "cannot be told: " + std::string(rest);
    default:
      return std::string(rest);
  }
}

std::string listing_subject(std::string_view folder, std::span<const std::string> own) {
  std::string subject(folder);
  for (const auto& name : own) subject.append(1, '\0').append(name);
  return subject;
}

ListingSubject split_listing_subject(std::string_view subject) {
  ListingSubject parts;
  auto end = subject.find('\0');
  parts.folder = subject.substr(0, end);
  while (end != std::string_view::npos) {
    subject.remove_prefix(end + 1);
    end = subject.find('\0');
    parts.own.emplace_back(subject.substr(0, end));
  }
  return parts;
}

bool is_unlisted_name(std::string_view name) {
  return name == ".hallmark" || name == "__pycache__" || name.starts_with(".hallmark-");
}

}  // namespace hallmark::engine
