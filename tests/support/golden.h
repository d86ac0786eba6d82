// Golden files: the bytes of an on-disk format, as a hex dump under tests/golden/, so that a change of the
// format is seen in review. HALLMARK_UPDATE_GOLDEN=1 writes them instead of comparing.
#pragma once

#include <string>
#include <string_view>

namespace hallmark::test {

/// 32 bytes a line, lower-case hex, as the files hold them.
std::string hex_dump(std::string_view bytes);

/// Fails the running test if `bytes` are not those of `source_dir`/tests/golden/`name`.hex.
void expect_golden(const std::string& source_dir, const std::string& name, std::string_view bytes);

/// The bytes of a golden file; fails the running test if it cannot be read.
std::string golden_bytes(const std::string& source_dir, const std::string& name);

}  // namespace hallmark::test
