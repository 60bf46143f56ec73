// Between periods most accesses end at one byte that tells for 256 of the program's (quiet.h). What was sampled must be found all the
// same: among neighbours that are looked at in vain again and again, by an access that begins in the block before, and in a block that had
// history once and lost it.
// RUN: %cxx -O1 %s -o %t && %with pacer,rate=0 %race %t | %FileCheck %s --implicit-check-not=race:
#include <stdint.h>

#include "order.h"
#include "sampling/sampled.h"

extern "C" void __tsan_unaligned_write8(void* p);

namespace {

void look_around(volatile uint64_t* block) {
  for (int round = 0; round < 10000; ++round) block[1 + round % 30] = 1;
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void end_epoch() {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

}  // namespace

alignas(4096) uint64_t among[32], behind[1024], before[64], again[32];

int main() {
  in_turn(
      [] {
        sampled([] { among[0] = 1; });  // CHECK-DAG: race: write-write on global among
        look_around(among);
        sampled([] { behind[32] = 1; });  // CHECK-DAG: race: write-write on global behind of 8,192 bytes at offset 256
        sampled([] { before[31] = 1; });  // CHECK-DAG: race: write-write on global before of 512 bytes at offset 252
        sampled([] { again[0] = 1; });    // forgotten by its thread's next access in another epoch, between periods
        sampled([] { end_epoch(); });
        again[0] = 2;
        look_around(again);
        sampled([] { again[31] = 1; });  // CHECK-DAG: race: write-write on global again of 256 bytes at offset 248
        look_around(again);
      },
      [] {
        look_around(among);
        among[0] = 2;
        __tsan_unaligned_write8(reinterpret_cast<char*>(behind) + 252);
        __tsan_unaligned_write8(reinterpret_cast<char*>(before) + 252);
        look_around(again);
        again[31] = 2;
        again[0] = 3;
      });
}
// CHECK: 4 races in
