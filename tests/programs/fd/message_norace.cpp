// sendmsg and recvmsg, send and recv, writev and readv order like write and read.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int shared, ends[2];

int main() {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
  together(
      [] {
        char byte = 'x';
        iovec vector = {&byte, 1};
        msghdr message = {};
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        shared = 1;
        if (sendmsg(ends[0], &message, 0) != 1 || recv(ends[0], &byte, 1, 0) != 1) return;
        shared++;
        if (writev(ends[0], &vector, 1) != 1) return;
      },
      [] {
        char byte;
        iovec vector = {&byte, 1};
        msghdr message = {};
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        if (recvmsg(ends[1], &message, 0) != 1) return;
        shared++;
        if (send(ends[1], &byte, 1, 0) != 1 || readv(ends[1], &vector, 1) != 1) return;
        shared++;
      });
  return shared - 4;
}
