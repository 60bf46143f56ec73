// What was written before an operation was asked for comes before what another thread does that saw its end.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <aio.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int shared;
char buffer[8];
aiocb request;

int main() {
  char name[] = "/tmp/photofinish-aio-XXXXXX";
  request.aio_fildes = mkstemp(name);
  request.aio_buf = buffer;
  request.aio_nbytes = sizeof buffer;
  unlink(name);
  in_turn(
      [] {
        shared = 1;
        if (aio_write(&request) != 0) shared = 100;
      },
      [] {
        while (aio_error(&request) == EINPROGRESS) usleep(100);
        shared++;
        buffer[0] = 1;
      });
  return shared == 2 ? 0 : 1;
}
