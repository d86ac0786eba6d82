// Pointers that are no pointers fail with EFAULT and do no harm; results may be written over the path.
// reads: file
// looks: other
// links: link
#include "fixture.h"
int main(void) {
  struct stat status;
  char buffer[64];
  const char* bad[] = {NULL, (const char*)1, (const char*)0x7e9000001000, (const char*)-1L};
  for (int i = 0; i < 4; ++i) {
    const char* volatile path = bad[i];
    CHECK(access(path, F_OK) < 0 && errno == EFAULT);
    CHECK(open(path, O_RDONLY) < 0 && errno == EFAULT);
    CHECK(stat(path, &status) < 0 && errno == EFAULT);
    CHECK(readlink(path, buffer, sizeof(buffer)) < 0 && errno == EFAULT);
  }
  struct stat* volatile nowhere = NULL;
  CHECK(stat("other", nowhere) < 0 && errno == EFAULT);
  char* const page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED && mprotect(page + 4096, 4096, PROT_NONE) == 0);
  memcpy(page + 4096 - 5, "other", 5);  // no zero before the end of the page
  CHECK(access(page + 4096 - 5, F_OK) < 0 && errno == EFAULT);
  memcpy(page + 4096 - 6, "other", 6);
  CHECK(access(page + 4096 - 6, F_OK) == 0);
  strcpy(buffer, "link");
  char* volatile same = buffer;
  CHECK(readlink(same, buffer, sizeof(buffer)) == 4 && memcmp(buffer, "file", 4) == 0);
  CHECK(access("", F_OK) < 0 && errno == ENOENT);
  CHECK(open("", O_RDONLY) < 0 && errno == ENOENT);
  read_file("file");
  return 0;
}
