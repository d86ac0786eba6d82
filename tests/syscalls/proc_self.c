// Names that mean this process.
// reads: file
// reads: other
#include "fixture.h"
int main(void) {
  char name[64];
  const int descriptor = open("file", O_PATH);
  snprintf(name, sizeof(name), "/proc/self/fd/%d", descriptor);
  read_file(name);
  read_file("/proc/self/cwd/other");
  snprintf(name, sizeof(name), "/dev/fd/%d", descriptor);
  read_file(name);
  return 0;
}
