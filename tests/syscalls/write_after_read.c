// The order of a read and a write of one file, across processes: the state before the write is an input.
// reads: file
// writes: file
// writes: made
#include "fixture.h"
int main(void) {
  for (int i = 0; i < 50; ++i) {
    read_file("file");  // fast
    const pid_t child = fork();
    if (child == 0) {
      const int file = open("file", O_WRONLY | O_TRUNC);  // slow
      _exit(file >= 0 && write(file, "new\n", 4) == 4 ? 0 : 1);
    }
    check_child(child);
    const int made = open("made", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(made >= 0 && write(made, "x\n", 2) == 2 && close(made) == 0);
    read_file("made");  // its own: no input
  }
  return 0;
}
