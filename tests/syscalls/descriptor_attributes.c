// Attributes that are changed through a descriptor that was opened to read.
// writes: file
// writes: other
// writes: folder/inside
// writes: folder/deep/leaf
// writes: script
#include <sys/xattr.h>

#include "fixture.h"
static int open_to_read(const char* path) {
  const int descriptor = open(path, O_RDONLY);
  CHECK(descriptor >= 0);
  return descriptor;
}
int main(void) {
  CHECK(fchmod(open_to_read("file"), 0600) == 0);
  const struct timespec times[2] = {{1, 0}, {2, 0}};
  CHECK(futimens(open_to_read("other"), times) == 0);
  CHECK(fchown(open_to_read("folder/inside"), getuid(), getgid()) == 0);
  CHECK(fchownat(open_to_read("folder/deep/leaf"), "", getuid(), getgid(), AT_EMPTY_PATH) == 0);
  const int script = open_to_read("script");
  // Not every file system keeps extended attributes.
  if (fsetxattr(script, "user.test", "value", 5, 0) != 0) CHECK(fchmod(script, 0700) == 0);
  return 0;
}
