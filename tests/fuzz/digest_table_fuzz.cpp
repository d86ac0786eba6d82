// A small digest table, damaged: a look-up gives what was inserted for this file, or nothing; and inserting
// still works.
//
// Input: the number of a place in the table (2 bytes) and what is to stand there.
#include <cstdint>
#include <cstdlib>

#include "store/internal/digest_table.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  if (size < 2) return 0;
  test::FakeClock clock;
  test::FakeFileSystem files(clock);
  files.put("/s/tmp/x", "");
  const store::Layout layout("/s");
  store::Scratch scratch(files, clock, layout);
  const auto stat_of = [](std::uint64_t inode) {
    return FileStat{.device = 3,
                    .inode = inode,
                    .size_bytes = 5,
                    .mtime_ns = 6,
                    .ctime_ns = 7,
                    .mode = 0644,
                    .kind = NodeKind::file};
  };
  // The corpus was written before clock words were; the files after the fourth have them.
  const auto right = [](std::uint64_t inode) {
    std::optional<digest::ClockWords> words;
    if (inode >= 4) words = digest::ClockWords{inode % 2 == 0, inode % 3 == 0, false};
    return store::DigestTable::Known{digest::digest_of(std::to_string(inode)).hash, words};
  };
  constexpr std::uint64_t kPages = 4;
  const auto open = [&] { return store::DigestTable(files, scratch, "/s/digests", false, kPages); };
  {
    auto table = open();
    for (std::uint64_t inode = 0; inode < 8; ++inode) table.insert(stat_of(inode), right(inode));
    if (!table.flush().has_value()) std::abort();
  }
  std::string bytes = files.bytes("/s/digests");
  const std::size_t place = (data[0] | data[1] << 8) % (bytes.size() + 1);
  bytes.replace(place, size - 2, as_text({data + 2, size - 2}));
  files.damage("/s/digests", bytes);

  auto table = open();
  for (std::uint64_t inode = 0; inode < 8; ++inode) {
    const auto found = table.find(stat_of(inode));
    // The corpus holds tables in which these files have their right digests: damage may lose them, not change
    // them.
    if (found && found->hash != right(inode).hash) std::abort();
    table.insert(stat_of(inode), right(inode));
  }
  if (!table.flush().has_value()) std::abort();
  auto again = open();
  for (std::uint64_t inode = 0; inode < 8; ++inode) {
    if (again.find(stat_of(inode)) != right(inode)) std::abort();
  }
  if (!again.count_damaged(false).has_value()) std::abort();
  return 0;
}
