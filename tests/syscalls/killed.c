// Children that are killed at any moment hang nobody.
// reads: file
// doubt: ?observation_lost
#include "fixture.h"
int main(void) {
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        access("missing", F_OK);
        const int descriptor = open("file", O_RDONLY);
        if (descriptor >= 0) close(descriptor);
      }
    }
    CHECK(child > 0);
    usleep(1000);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
  }
  read_file("file");
  return 0;
}
