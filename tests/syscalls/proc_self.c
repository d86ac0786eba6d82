// Names that mean this process, the last one just before it ends.
// reads: folder/inside
// reads: other
#include "fixture.h"
int main(void) {
  char name[64];
  const int descriptor = open("folder/inside", O_PATH);
  snprintf(name, sizeof(name), "/dev/fd/%d", descriptor);
  read_file(name);
  snprintf(name, sizeof(name), "/proc/self/fd/%d", descriptor);
  read_file(name);
  read_file("/proc/self/cwd/other");
  return 0;
}
