// Absolute paths below another root.
// reads: folder/inside
// needs: root
#include "fixture.h"
int main(void) {
  if (chroot("folder") != 0) return kSkipped;
  CHECK(chdir("/") == 0);
  read_file("/inside");
  struct stat status;
  CHECK(stat("/deep/leaf", &status) == 0);
  return 0;
}
