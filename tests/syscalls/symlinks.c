// Links in the last and in other components, and ".." behind one.
// reads: file
// reads: folder/inside
// looks: folder
// links: link
// links: folder_link
#include "fixture.h"
int main(void) {
  char target[64];
  struct stat status;
  read_file("link");
  read_file("folder_link/inside");
  read_file("folder_link/../file");
  CHECK(readlink("link", target, sizeof(target)) == 4);
  CHECK(lstat("folder_link", &status) == 0 && S_ISLNK(status.st_mode));
  CHECK(stat("folder_link", &status) == 0 && S_ISDIR(status.st_mode));
  CHECK(open("link", O_RDONLY | O_NOFOLLOW) < 0 && errno == ELOOP);
  return 0;
}
