// What was written after an operation was asked for is not ordered by its end.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "aio/file.h"
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes
char buffer[8];
aiocb request;

int main() {
  request.aio_fildes = nameless_file();
  request.aio_buf = buffer;
  request.aio_nbytes = sizeof buffer;
  in_turn(
      [] {
        if (aio_write(&request) != 0) return;
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        wait_for_end(&request);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });            // CHECK: 1 race in
}
