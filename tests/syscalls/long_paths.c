// A working folder longer than any buffer of the agent, and names that are too long.
// reads: file
#include "fixture.h"
int main(void) {
  char name[201];
  memset(name, 'n', 200);
  name[200] = 0;
  for (int i = 0; i < 18; ++i) {
    CHECK(mkdir(name, 0755) == 0);
    CHECK(chdir(name) == 0);
  }
  const int made = open("made", O_WRONLY | O_CREAT, 0644);
  CHECK(made >= 0 && write(made, "x", 1) == 1 && close(made) == 0);
  read_file("made");
  CHECK(access("missing", F_OK) < 0 && errno == ENOENT);
  char long_name[5000];
  memset(long_name, 'n', sizeof(long_name));
  long_name[sizeof(long_name) - 1] = 0;
  CHECK(access(long_name, F_OK) < 0 && errno == ENAMETOOLONG);
  CHECK(unlink("made") == 0);
  for (int i = 0; i < 18; ++i) {
    CHECK(chdir("..") == 0);
    CHECK(rmdir(name) == 0);
  }
  read_file("file");
  return 0;
}
