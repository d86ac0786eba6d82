// File calls inside signal handlers that interrupt file calls.
// reads: file
// reads: other
// absent: missing
#include <sys/time.h>

#include "fixture.h"
static volatile long inside;
static void on_alarm(int signal) {
  const int saved = errno;
  (void)signal;
  const int descriptor = open("other", O_RDONLY);
  if (descriptor >= 0) {
    close(descriptor);
    ++inside;
  }
  errno = saved;
}
int main(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  struct itimerval often = {{0, 1000}, {0, 1000}};  // slower than a call under strace
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (int i = 0; i < 10000 || inside == 0; ++i) {
    struct stat status;
    CHECK(stat("file", &status) == 0 && S_ISREG(status.st_mode));
    CHECK(access("missing", F_OK) < 0 && errno == ENOENT);
    if (i % 100 == 0) read_file("file");
  }
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  return 0;
}
