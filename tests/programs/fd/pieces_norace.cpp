// Several messages in one call, and reading and writing in pieces with flags.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int shared, ends[2], file;
char halves[2][4];

int main() {
  char name[] = "/tmp/photofinish-pieces-XXXXXX";
  file = mkstemp(name);
  unlink(name);
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) return 1;
  together(
      [] {
        iovec both[2] = {{halves[0], 4}, {halves[1], 4}};
        mmsghdr messages[2] = {};
        for (int i = 0; i < 2; i++) messages[i].msg_hdr.msg_iov = &both[i], messages[i].msg_hdr.msg_iovlen = 1;
        if (pwritev2(file, both, 2, 0, 0) != 8) abort();
        shared = 1;
        halves[0][0] = 1;
        if (sendmmsg(ends[0], messages, 2, 0) != 2 || messages[1].msg_len != 4) abort();
      },
      [] {
        char own[2][4];
        iovec both[2] = {{own[0], 4}, {own[1], 4}};
        mmsghdr messages[2] = {};
        for (int i = 0; i < 2; i++) messages[i].msg_hdr.msg_iov = &both[i], messages[i].msg_hdr.msg_iovlen = 1;
        if (recvmmsg(ends[1], messages, 2, MSG_WAITALL, nullptr) < 1) abort();
        shared++;
        if (preadv2(file, both, 2, 0, 0) != 8 || own[0][0] != 0) abort();
      });
  return shared - 2;
}
