// A file that is changed through another of its names, which is gone afterwards.
// reads: file
// doubt: linked_file_changed
#include "fixture.h"
int main(void) {
  CHECK(link("file", "named") == 0);
  const int descriptor = open("named", O_WRONLY | O_APPEND);
  CHECK(descriptor >= 0 && write(descriptor, "more", 4) == 4);
  CHECK(unlink("named") == 0);
  return 0;
}
