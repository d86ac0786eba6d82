// A vfork child has its own folder and the memory of its parent.
// reads: file
// reads: folder/inside
// absent: folder/missing
// reads: other
#include "fixture.h"
int main(void) {
  const pid_t child = vfork();
  if (child == 0) {
    if (chdir("folder") != 0) _exit(1);
    if (open("../file", O_RDONLY) < 0 || open("inside", O_RDONLY) < 0) _exit(2);
    if (open("missing", O_RDONLY) >= 0) _exit(3);
    execl("/bin/true", "true", (char*)NULL);
    _exit(4);
  }
  check_child(child);
  read_file("other");
  return 0;
}
