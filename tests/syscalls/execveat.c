// Execution by descriptor, and relative to a folder.
// reads: /bin/true
// reads: script
#include "fixture.h"
int main(void) {
  char* arguments[] = {"true", NULL};
  const int program = open("/bin/true", O_PATH | O_CLOEXEC);
  pid_t child = fork();
  if (child == 0) {
    syscall(SYS_execveat, program, "", arguments, environ, AT_EMPTY_PATH);
    _exit(1);
  }
  check_child(child);
  const int folder = open(".", O_PATH | O_DIRECTORY);
  child = fork();
  if (child == 0) {
    syscall(SYS_execveat, folder, "script", arguments, environ, 0);
    _exit(1);
  }
  check_child(child);
  return 0;
}
