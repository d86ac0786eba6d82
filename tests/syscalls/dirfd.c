// Paths relative to an open folder, also after the folder was renamed.
// reads: folder/inside
// looks: folder/deep/leaf
// absent: folder/missing
// writes: made_folder/made
#include "fixture.h"
int main(void) {
  const int folder = open("folder", O_PATH | O_DIRECTORY);
  struct stat status;
  read_one(openat(folder, "inside", O_RDONLY));
  CHECK(fstatat(folder, "deep/leaf", &status, 0) == 0);
  CHECK(faccessat(folder, "missing", F_OK, 0) < 0);
  CHECK(mkdir("new_folder", 0755) == 0);
  const int made = open("new_folder", O_RDONLY | O_DIRECTORY);
  CHECK(rename("new_folder", "made_folder") == 0);
  const int file = openat(made, "made", O_WRONLY | O_CREAT, 0644);
  CHECK(file >= 0 && write(file, "x", 1) == 1);
  return 0;
}
