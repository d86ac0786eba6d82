// A program that locks itself in: only the calls that it names are allowed, any other kills it.
// reads: file
// reads: other
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "fixture.h"
#define ALLOW(number) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
int main(void) {
  read_file("other");
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_openat),
      ALLOW(SYS_read),
      ALLOW(SYS_close),
      ALLOW(SYS_exit_group),
      ALLOW(SYS_write),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
  const int descriptor = open("file", O_RDONLY);
  char byte;
  if (descriptor < 0 || read(descriptor, &byte, 1) != 1) _exit(1);
  close(descriptor);
  _exit(0);
}
