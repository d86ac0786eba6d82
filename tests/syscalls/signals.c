// A timer every 300 us, its handler with SA_RESTART: no call may fail with EINTR, none may be made twice.
// reads: file
// absent: missing
#include <sys/time.h>

#include "fixture.h"
static volatile long ticks;
static void on_alarm(int signal) {
  (void)signal;
  ++ticks;
}
int main(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  struct itimerval often = {{0, 300}, {0, 300}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  int last = -1;
  for (int i = 0; i < 5000; ++i) {
    const int descriptor = open("file", O_RDONLY);
    CHECK(descriptor >= 0);
    if (last >= 0) CHECK(descriptor == last);  // a call made twice leaves a descriptor behind
    last = descriptor;
    CHECK(close(descriptor) == 0);
    CHECK(access("missing", F_OK) < 0 && errno == ENOENT);
    const int made = open("made", O_WRONLY | O_CREAT | O_EXCL, 0644);
    CHECK(made >= 0 && close(made) == 0);
    CHECK(unlink("made") == 0);
  }
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  CHECK(ticks > 0);
  return 0;
}
