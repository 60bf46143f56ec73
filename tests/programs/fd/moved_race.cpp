// The calls that move data read and write the offsets they are given, and order nothing that comes after the data went in.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

off_t sent;
off64_t copied, put;                  // CHECK-COUNT-3: race: write-write on global {{sent|copied|put}} of 8 bytes
int shared, from, to, in[2], out[2];  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  char name[] = "/tmp/photofinish-moved-XXXXXX", other[] = "/tmp/photofinish-moved-XXXXXX";
  from = mkstemp(name), to = mkstemp(other);
  unlink(name), unlink(other);
  if (pipe(in) || pipe(out) || write(from, "whole file", 10) != 10) return 1;
  in_turn(
      [] {
        if (sendfile(out[1], from, &sent, 4) != 4) abort();
        if (copy_file_range(from, &copied, to, &put, 4, 0) != 4) abort();
        if (write(in[1], "x", 1) != 1) abort();
        shared = 1;
      },
      [] {
        sent = copied = put = 0;
        if (splice(in[0], nullptr, out[1], nullptr, 1, 0) != 1) abort();
        shared = 2;
      });
}  // CHECK: 4 races in
