// Nothing of the observer shows in the environment, in /etc/ld.so.preload or in the open descriptors.
#include <dirent.h>

#include "fixture.h"
int main(void) {
  for (char** variable = environ; *variable != NULL; ++variable) {
    CHECK(strncmp(*variable, "LD_", 3) != 0);
    CHECK(strstr(*variable, "hallmark-agent") == NULL);
  }
  char text[4096] = "";
  const int preload = open("/etc/ld.so.preload", O_RDONLY);
  if (preload >= 0) CHECK(read(preload, text, sizeof(text) - 1) >= 0 && strstr(text, "agent") == NULL);
  if (preload < 0) CHECK(errno == ENOENT && access("/etc/ld.so.preload", F_OK) < 0);
  if (preload >= 0) close(preload);
  DIR* folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  CHECK(count == 2 + 4);  // ".", "..", three streams, the folder itself
  return 0;
}
