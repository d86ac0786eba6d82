// Rings would carry accesses past every observer: the program is told that there are none.
// reads: file
#include "fixture.h"
int main(void) {
  char parameters[256] = {0};
  const long ring = syscall(425 /* io_uring_setup */, 4, parameters);
  if (getenv("HALLMARK_TEST_OBSERVED") != NULL) CHECK(ring < 0 && errno == ENOSYS);
  read_file("file");
  return 0;
}
