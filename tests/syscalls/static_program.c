// A program without a dynamic loader: no agent can be in it.
// reads: file
// looks: other
// absent: missing
// writes: made
#include "fixture.h"
int main(void) {
  struct stat status;
  read_file("file");
  CHECK(stat("other", &status) == 0);
  CHECK(access("missing", F_OK) < 0);
  const int made = open("made", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  CHECK(made >= 0 && write(made, "x", 1) == 1);
  return 0;
}
