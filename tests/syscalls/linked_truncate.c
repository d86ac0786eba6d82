// A file that is made whole through another of its names.
// doubt: linked_file_changed
#include "fixture.h"
int main(void) {
  CHECK(link("file", "named") == 0);
  const int descriptor = open("named", O_WRONLY | O_TRUNC);
  CHECK(descriptor >= 0 && write(descriptor, "new", 3) == 3);
  CHECK(unlink("named") == 0);
  return 0;
}
