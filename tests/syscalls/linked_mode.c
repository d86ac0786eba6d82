// A mode that is changed through another name of the file.
// doubt: linked_file_changed
#include "fixture.h"
int main(void) {
  CHECK(link("file", "named") == 0);
  CHECK(chmod("named", 0600) == 0);
  CHECK(unlink("named") == 0);
  return 0;
}
