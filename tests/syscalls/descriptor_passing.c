// A descriptor that another process opened.
// reads: file
#include "fixture.h"
int main(void) {
  int pair[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  char control[CMSG_SPACE(sizeof(int))] = {0};
  char byte = 'x';
  struct iovec data = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  const pid_t child = fork();
  if (child == 0) {
    const int descriptor = open("file", O_RDONLY);
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    _exit(sendmsg(pair[0], &message, 0) == 1 ? 0 : 1);
  }
  CHECK(recvmsg(pair[1], &message, 0) == 1);
  int descriptor = -1;
  memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
  read_one(descriptor);
  check_child(child);
  return 0;
}
