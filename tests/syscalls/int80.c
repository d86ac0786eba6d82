// A system call of the 32-bit ABI, from a 64-bit program.
// doubt: foreign_architecture
#include "fixture.h"
static void no_emulation(int signal) {
  (void)signal;
  _exit(kSkipped);
}
int main(void) {
  signal(SIGSEGV, no_emulation);
  char* low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  CHECK(low != MAP_FAILED);
  strcpy(low, "file");
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(5L), "b"(low), "c"(0L), "d"(0L) : "memory");
  if (result == -ENOSYS) return kSkipped;
  read_one((int)result);
  return 0;
}
