// A program that is only listed, not started, loads no agent: ldd shows what it always shows.
// reads: /bin/true
// doubt: ?foreign_architecture
#include "fixture.h"
int main(void) {
  if (access("/usr/bin/ldd", X_OK) != 0) return kSkipped;
  FILE* output = popen("ldd /bin/true", "r");
  CHECK(output != NULL);
  char line[1024];
  int lines = 0;
  while (fgets(line, sizeof(line), output) != NULL) {
    ++lines;
    CHECK(strstr(line, "agent") == NULL);
  }
  CHECK(pclose(output) == 0 && lines > 1);
  return 0;
}
