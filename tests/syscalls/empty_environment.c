// A program started without any environment is observed all the same.
// reads: file
// absent: missing
#include "fixture.h"
int main(int count, char** arguments) {
  if (count > 1) {
    read_file("file");
    CHECK(access("missing", F_OK) < 0);
    return 0;
  }
  const pid_t child = fork();
  if (child == 0) {
    char* again[] = {arguments[0], "again", NULL};
    char* nothing[] = {NULL};
    execve(arguments[0], again, nothing);
    _exit(1);
  }
  check_child(child);
  return 0;
}
