// renameat2 moves what was made, and exchanges two names.
// writes: final
// writes: first
// writes: second
#include "fixture.h"
static void make(const char* path) {
  const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
  CHECK(descriptor >= 0 && write(descriptor, path, strlen(path)) > 0 && close(descriptor) == 0);
}
int main(void) {
  make("temporary");
  CHECK(syscall(SYS_renameat2, AT_FDCWD, "temporary", AT_FDCWD, "final", 1 /* RENAME_NOREPLACE */) == 0);
  make("first");
  make("second");
  CHECK(syscall(SYS_renameat2, AT_FDCWD, "first", AT_FDCWD, "second", 2 /* RENAME_EXCHANGE */) == 0);
  return 0;
}
