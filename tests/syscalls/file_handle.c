// A file opened by handle has no path that could be seen.
// doubt: observation_lost
// needs: root
#include "fixture.h"
int main(void) {
  struct {
    struct file_handle handle;
    char bytes[128];
  } name;
  int mount = 0;
  name.handle.handle_bytes = sizeof(name.bytes);
  if (name_to_handle_at(AT_FDCWD, "file", &name.handle, &mount, 0) != 0) return kSkipped;
  const int folder = open(".", O_RDONLY | O_DIRECTORY);
  const int descriptor = open_by_handle_at(folder, &name.handle, O_RDONLY);
  if (descriptor < 0) return kSkipped;
  read_one(descriptor);
  return 0;
}
