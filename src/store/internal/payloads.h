// Payloads: what stands in the frames that only the store itself reads (site histories, last misses), and
// what a record needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/record.h"
#include "store/local_store.h"

namespace hallmark::store {

/// All blobs that a record cannot do without.
std::vector<digest::Digest> blobs_of(const model::Record& record);

std::string encode_site(const std::vector<digest::Key>& weak_keys);
Result<std::vector<digest::Key>> decode_site(std::string_view payload);

std::string encode_last_miss(const std::string& root, const LocalStore::LastMiss& miss);
Result<LocalStore::LastMiss> decode_last_miss(std::string_view payload);

std::string encode_tests(const std::string& root, const std::vector<TestHistory::TestRun>& runs);
Result<std::vector<TestHistory::TestRun>> decode_tests(std::string_view payload);

}  // namespace hallmark::store
