// A program that never was a file.
// reads: /bin/true
#include "fixture.h"
int main(void) {
  const int memory = memfd_create("program", MFD_CLOEXEC);
  const int from = open("/bin/true", O_RDONLY);
  CHECK(memory >= 0 && from >= 0);
  char buffer[65536];
  for (ssize_t got; (got = read(from, buffer, sizeof(buffer))) > 0;)
    CHECK(write(memory, buffer, (size_t)got) == got);
  const pid_t child = fork();
  if (child == 0) {
    char* arguments[] = {"true", NULL};
    fexecve(memory, arguments, environ);
    _exit(1);
  }
  check_child(child);
  return 0;
}
