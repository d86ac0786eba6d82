// The kernel opens the interpreter of a script by itself.
// reads: script
// reads: /bin/sh
#include "fixture.h"
int main(void) {
  const pid_t child = fork();
  if (child == 0) {
    execl("./script", "script", (char*)NULL);
    _exit(1);
  }
  check_child(child);
  return 0;
}
