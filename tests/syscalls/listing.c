// The names in a folder.
// lists: folder
// looks: folder/inside
#include <dirent.h>

#include "fixture.h"
int main(void) {
  DIR* folder = opendir("folder");
  CHECK(folder != NULL);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    struct stat status;
    ++count;
    CHECK(fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0);
  }
  CHECK(count == 4 && closedir(folder) == 0);
  return 0;
}
