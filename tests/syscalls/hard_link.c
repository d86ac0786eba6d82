// A second name: the file is read, and what is made holds its bytes.
// reads: file
// writes: named
#include "fixture.h"
int main(void) {
  CHECK(link("file", "named") == 0);
  return 0;
}
