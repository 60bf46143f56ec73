// What was written after an operation was asked for is not ordered by its end.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <aio.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
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
        if (aio_write(&request) != 0) return;
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        while (aio_error(&request) == EINPROGRESS) usleep(100);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });            // CHECK: 1 race in
}
