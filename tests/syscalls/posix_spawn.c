// posix_spawn changes folder and opens files in the child before it executes.
// reads: folder/inside
// reads: file
#include <spawn.h>

#include "fixture.h"
int main(void) {
  posix_spawn_file_actions_t actions;
  CHECK(posix_spawn_file_actions_init(&actions) == 0);
  CHECK(posix_spawn_file_actions_addchdir_np(&actions, "folder") == 0);
  CHECK(posix_spawn_file_actions_addopen(&actions, 5, "inside", O_RDONLY, 0) == 0);
  CHECK(posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) == 0);
  char* arguments[] = {"cat", "../file", NULL};
  pid_t child = 0;
  CHECK(posix_spawn(&child, "/bin/cat", &actions, NULL, arguments, environ) == 0);
  check_child(child);
  return 0;
}
