// A thread that is cancelled inside open runs its cleanup handlers.
// reads: file
// doubt: ?observation_lost
#include <pthread.h>

#include "fixture.h"
static volatile int cleaned;
static void clean_up(void* unused) {
  (void)unused;
  cleaned = 1;
}
static void* wait_for_writer(void* unused) {
  pthread_cleanup_push(clean_up, NULL);
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
  CHECK(result == PTHREAD_CANCELED && cleaned == 1);
  CHECK(unlink("fifo") == 0);
  read_file("file");
  return 0;
}
