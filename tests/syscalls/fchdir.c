// The working folder comes from a descriptor.
// reads: folder/inside
// reads: folder/deep/leaf
#include "fixture.h"
int main(void) {
  const int folder = open("folder", O_RDONLY | O_DIRECTORY);
  CHECK(folder >= 0 && fchdir(folder) == 0);
  read_file("inside");
  CHECK(chdir("deep") == 0);
  read_file("leaf");
  return 0;
}
