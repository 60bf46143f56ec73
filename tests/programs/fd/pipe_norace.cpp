// A byte through a pipe, a socket pair or an eventfd orders the writer before the reader.
// RUN: %cxx -O1 -DOPEN="pipe(ends)" %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DOPEN="socketpair(AF_UNIX,SOCK_STREAM,0,ends)" %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DOPEN="(ends[0]=ends[1]=eventfd(0,0))<0" %s -o %t3 && %norace %t3
#include "order.h"
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int shared, ends[2];

int main() {
  if (OPEN) return 1;
  together(
      [] {
        shared = 1;
        long token = 1;
        if (write(ends[1], &token, sizeof token) != sizeof token) shared = 100;
      },
      [] {
        long token = 0;
        while (read(ends[0], &token, sizeof token) <= 0) continue;
        shared++;
      });
  close(ends[0]);
  return shared - 2;
}
