// Answers: how the state of the world is written down. Equal answers are equal bytes, and only those.
//
// The first byte says what kind of answer it is, so that `describe` can show any of them to a person. An
// answer that could not be found out today equals no recorded answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_stat.h"
#include "digest/digest.h"
#include "model/record.h"

namespace hallmark::engine {

model::Answer answer_absent();
model::Answer answer_digest(const digest::Digest& digest);
model::Answer answer_kind(const std::optional<FileStat>& stat);
/// `names` sorted; those that are in `own` (sorted) do not count.
model::Answer answer_names(std::span<const std::string> names, std::span<const std::string> own);
model::Answer answer_text(std::string_view text);
model::Answer answer_number(std::int64_t value);
/// Equal to no answer that is ever recorded.
model::Answer answer_unknown(std::string_view why);

/// The digest in an answer that is one.
std::optional<digest::Digest> digest_in(const model::Answer& answer);
bool is_absent(const model::Answer& answer);
bool is_unknown(const model::Answer& answer);

/// For a person: "absent", "file", a text, the first digits of a digest.
std::string describe(const model::Answer& answer);

/// Subject of a listing: the folder, and the names that the action itself makes there, which do not count.
std::string listing_subject(std::string_view folder, std::span<const std::string> own);
struct ListingSubject {
  std::string_view folder;
  std::vector<std::string> own;  ///< sorted
};
ListingSubject split_listing_subject(std::string_view subject);

/// Names that are never part of a listing: hallmark's own folder and python's cache.
bool is_unlisted_name(std::string_view name);

}  // namespace hallmark::engine
