// The working folder is gone.
// reads: file
#include "fixture.h"
int main(void) {
  char root[4096];
  CHECK(getcwd(root, sizeof(root)) != NULL);
  const int descriptor = open(".", O_RDONLY | O_DIRECTORY);
  CHECK(mkdir("gone", 0755) == 0 && chdir("gone") == 0);
  CHECK(rmdir("../gone") == 0);
  CHECK(open("file", O_RDONLY) < 0 && errno == ENOENT);
  CHECK(access("file", F_OK) < 0 && errno == ENOENT);
  CHECK(fchdir(descriptor) == 0);
  read_file("file");
  return 0;
}
