// A file without a name gets one at the end.
// writes: made
#include "fixture.h"
int main(void) {
  const int descriptor = open(".", O_TMPFILE | O_WRONLY, 0644);
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) return kSkipped;
  CHECK(descriptor >= 0 && write(descriptor, "x", 1) == 1);
  char name[64];
  snprintf(name, sizeof(name), "/proc/self/fd/%d", descriptor);
  CHECK(linkat(AT_FDCWD, name, AT_FDCWD, "made", AT_SYMLINK_FOLLOW) == 0);
  return 0;
}
