// Memory that only the maker's children can share.
#include <sys/ipc.h>
#include <sys/shm.h>

#include "fixture.h"
int main(void) {
  const int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  CHECK(memory >= 0);
  void* at = shmat(memory, NULL, 0);
  CHECK(at != (void*)-1 && shmdt(at) == 0);
  CHECK(shmctl(memory, IPC_RMID, NULL) == 0);
  return 0;
}
