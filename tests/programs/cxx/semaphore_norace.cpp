// std::counting_semaphore and binary_semaphore: release orders before the acquire that gets the token.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <chrono>
#include <semaphore>

int shared;
std::counting_semaphore<4> there(0);
std::binary_semaphore back(0);

int main() {
  together(
      [] {
        shared = 1;
        there.release(2);
        back.acquire();
        shared++;
      },
      [] {
        there.acquire();
        while (!there.try_acquire_for(std::chrono::hours(1))) continue;
        shared++;
        back.release();
      });
  return shared - 3;
}
