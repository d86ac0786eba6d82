// A queue by name: whether it is there, and what it holds, is another process's business.
// doubt: channel_used
#include <mqueue.h>

#include "fixture.h"
int main(void) {
  mq_open("/hallmark-test-that-is-not-there", O_RDONLY);  // whether the kernel has queues or not
  return 0;
}
