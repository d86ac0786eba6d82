// A thread that is cancelled inside open unwinds: its handlers run, and those of its automatic variables.
// reads: file
// doubt: ?observation_lost
#include <pthread.h>

#include "fixture.h"
static volatile int handled;
static volatile int unwound;
static void on_cancel(void* unused) {
  (void)unused;
  handled = 1;
}
static void on_unwind(int* unused) {
  (void)unused;
  unwound = 1;
}
static void* wait_for_writer(void* unused) {
  __attribute__((cleanup(on_unwind))) int guard = 0;
  (void)guard;
  pthread_cleanup_push(on_cancel, NULL);
  open("fifo", O_RDONLY);  // nobody writes
  pthread_cleanup_pop(0);
  return unused;
}
int main(void) {
  CHECK(mkfifo("fifo", 0644) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_for_writer, NULL) == 0);
  usleep(50000);
  CHECK(pthread_cancel(thread) == 0);
  void* result = NULL;
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result == PTHREAD_CANCELED && handled == 1 && unwound == 1);
  CHECK(unlink("fifo") == 0);
  read_file("file");
  return 0;
}
