// System calls that no library makes.
// reads: file
// looks: other
#include "fixture.h"
static long raw(long number, const void* a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}
int main(void) {
  struct stat status;
  read_one((int)raw(SYS_open, "file", O_RDONLY, 0));
  CHECK(raw(SYS_stat, "other", (long)&status, 0) == 0);
  return 0;
}
