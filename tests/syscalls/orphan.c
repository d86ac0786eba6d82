// A grandchild whose parent is gone still belongs to the command.
// reads: other
#include "fixture.h"
int main(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      usleep(20000);
      const int descriptor = open("other", O_RDONLY);
      _exit(descriptor >= 0 && write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    _exit(0);
  }
  check_child(child);
  char byte;
  CHECK(read(ends[0], &byte, 1) == 1);
  return 0;
}
