// What was written before an operation was asked for comes before what another thread does that saw its end.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "aio/file.h"
#include "order.h"

int shared;
char buffer[8];
aiocb request;

int main() {
  request.aio_fildes = nameless_file();
  request.aio_buf = buffer;
  request.aio_nbytes = sizeof buffer;
  in_turn(
      [] {
        shared = 1;
        if (aio_write(&request) != 0) shared = 100;
      },
      [] {
        wait_for_end(&request);
        shared++;
        buffer[0] = 1;
      });
  return shared == 2 ? 0 : 1;
}
