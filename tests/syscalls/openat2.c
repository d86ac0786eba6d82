// openat2 takes its flags by pointer.
// reads: file
// writes: made
#include <linux/openat2.h>

#include "fixture.h"
int main(void) {
  struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_NO_SYMLINKS};
  const long descriptor = syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof(how));
  if (descriptor < 0 && errno == ENOSYS) return kSkipped;
  read_one((int)descriptor);
  struct open_how make = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
  CHECK(syscall(SYS_openat2, AT_FDCWD, "made", &make, sizeof(make)) >= 0);
  return 0;
}
