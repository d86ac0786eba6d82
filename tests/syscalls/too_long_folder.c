// A working folder whose path is longer than the kernel can tell (4096 bytes): what happens there is a doubt.
// reads: file
// doubt: unreadable_process
#include "fixture.h"
int main(void) {
  char name[201];
  memset(name, 'n', 200);
  name[200] = 0;
  for (int i = 0; i < 25; ++i) {
    CHECK(mkdir(name, 0755) == 0);
    CHECK(chdir(name) == 0);
  }
  const int made = open("made", O_WRONLY | O_CREAT, 0644);
  CHECK(made >= 0 && write(made, "x", 1) == 1 && close(made) == 0);
  read_file("made");
  CHECK(access("missing", F_OK) < 0 && errno == ENOENT);
  CHECK(unlink("made") == 0);
  for (int i = 0; i < 25; ++i) {
    CHECK(chdir("..") == 0);
    CHECK(rmdir(name) == 0);
  }
  read_file("file");
  return 0;
}
