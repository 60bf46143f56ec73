// Random bytes, and what process_vm_readv and process_vm_writev move, are written and read by whoever asks for it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <stdlib.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

char random_bytes[16], entropy[16], got[8], given[8], put[8], taken[8];

int main() {
  in_turn(
      [] {
        if (getrandom(random_bytes, 8, 0) != 8 || getentropy(entropy, 8)) abort();
        iovec here = {got, 8}, there = {given, 8};
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 8) abort();
        here = {put, 8}, there = {taken, 8};
        if (process_vm_writev(getpid(), &here, 1, &there, 1, 0) != 8) abort();
      },
      [] {
        random_bytes[8] = entropy[8] = 1;  // none
        random_bytes[7] = 1;               // CHECK: race: write-write on global random_bytes of 16 bytes
        entropy[7] = 1;                    // CHECK: race: write-write on global entropy of 16 bytes
        got[7] = 1;                        // CHECK: race: write-write on global got of 8 bytes
        given[7] = 1;                      // CHECK: race: read-write on global given of 8 bytes
        put[7] = 1;                        // CHECK: race: read-write on global put of 8 bytes
        taken[7] = 1;                      // CHECK: race: write-write on global taken of 8 bytes
      });
}  // CHECK: 6 races in
