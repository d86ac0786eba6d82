// A child that is stopped and continued.
// reads: file
#include "fixture.h"
int main(void) {
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    read_file("file");
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
  CHECK(kill(child, SIGCONT) == 0);
  check_child(child);
  return 0;
}
