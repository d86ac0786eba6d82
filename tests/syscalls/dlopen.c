// A library loaded while the program runs is read by the loader, not by libc.
// reads: /lib/x86_64-linux-gnu/libresolv.so.2
#include <dlfcn.h>

#include "fixture.h"
int main(void) {
  if (access("/lib/x86_64-linux-gnu/libresolv.so.2", R_OK) != 0) return kSkipped;
  CHECK(dlopen("libresolv.so.2", RTLD_NOW) != NULL);
  return 0;
}
