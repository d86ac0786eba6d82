// Eight threads at once; one of them changes folder for all.
// reads: file
// reads: other
// reads: folder/inside
// looks: folder/deep/leaf
// absent: folder/none
#include <pthread.h>

#include "fixture.h"
static pthread_barrier_t barrier;
static char root[4096];
static void* work(void* name) {
  char path[8192];
  snprintf(path, sizeof(path), "%s/%s", root, (const char*)name);
  for (int i = 0; i < 500; ++i) {
    const int descriptor = open(path, O_RDONLY);
    if (descriptor >= 0) close(descriptor);
    struct stat status;
    stat(path, &status);
    access(path, R_OK);
  }
  pthread_barrier_wait(&barrier);
  return NULL;
}
int main(void) {
  char* names[] = {"file",        "other",       "folder/inside", "folder/deep/leaf",
                   "folder/none", "folder/deep", "file",          "other"};
  pthread_t threads[8];
  CHECK(getcwd(root, sizeof(root)) != NULL);
  pthread_barrier_init(&barrier, NULL, 9);
  for (int i = 0; i < 8; ++i) CHECK(pthread_create(&threads[i], NULL, work, names[i]) == 0);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 8; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
