// Every call that looks at a path and changes nothing.
// looks: file
// looks: other
// looks: folder
// links: link
// absent: missing
#include <sys/statfs.h>
#include <sys/xattr.h>

#include "fixture.h"
int main(void) {
  struct stat status;
  struct statx extended;
  struct statfs system;
  char buffer[256];
  CHECK(access("file", R_OK) == 0);
  CHECK(faccessat(AT_FDCWD, "other", R_OK, AT_EACCESS) == 0);
  CHECK(euidaccess("file", R_OK) == 0);
  CHECK(stat("file", &status) == 0 && status.st_size > 0);
  CHECK(lstat("link", &status) == 0 && S_ISLNK(status.st_mode));
  CHECK(statx(AT_FDCWD, "folder", 0, STATX_TYPE, &extended) == 0);
  CHECK(statx(AT_FDCWD, "file", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &extended) == 0 &&
        extended.stx_size > 0);
  CHECK(statfs("folder", &system) == 0);
  CHECK(getxattr("file", "user.none", buffer, sizeof(buffer)) < 0);
  CHECK(listxattr("file", buffer, sizeof(buffer)) >= 0 || errno == EOPNOTSUPP);
  CHECK(access("missing", F_OK) < 0 && errno == ENOENT);
  CHECK(access("file/below", F_OK) < 0 && errno == ENOTDIR);
  CHECK(access("missing/below", F_OK) < 0 && errno == ENOENT);
  return 0;
}
