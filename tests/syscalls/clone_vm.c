// A clone child that shares memory, not the folder, and never executes another program.
// reads: folder/inside
// reads: file
#include "fixture.h"
static char stack[65536];
static int child(void* unused) {
  (void)unused;
  if (chdir("folder") != 0 || open("inside", O_RDONLY) < 0) _exit(1);
  _exit(0);
}
int main(void) {
  check_child(clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
  read_file("file");
  return 0;
}
