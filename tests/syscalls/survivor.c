// A daemon that outlives the command goes on undisturbed: its calls do not fail when nobody watches.
// reads: other
// later: result
// doubt: survivor
#include <pthread.h>

#include "fixture.h"
static void* work(void* unused) {
  for (int i = 0; i < 150; ++i) {
    usleep(10000);
    read_file("file");
    CHECK(access("missing", F_OK) < 0 && errno == ENOENT);
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/true", "true", (char*)NULL);
      _exit(1);
    }
    check_child(child);
  }
  return unused;
}
int main(void) {
  read_file("other");
  if (fork() != 0) return 0;
  setsid();
  const int null = open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; ++i) dup2(null, i);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  const int made = open("partial", O_WRONLY | O_CREAT, 0644);
  CHECK(made >= 0 && write(made, "ok", 2) == 2 && close(made) == 0);
  CHECK(rename("partial", "result") == 0);
  return 0;
}
