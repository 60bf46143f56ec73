// The run directory goes away while the program runs, once the reader has the program's file: what is found before and
// after is reported.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <filesystem>
#include <stdlib.h>
#include <string>
#include <unistd.h>

int before;  // CHECK-DAG: race: write-write on global before of 4 bytes
int after;   // CHECK-DAG: race: write-write on global after of 4 bytes

static bool is_followed() {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(getppid()) + "/fd")) {
    if (read_symlink(entry.path(), gone).extension() == ".raw") return true;
  }
  return false;
}

static void* write_after(void*) {
  after = 1;
  return nullptr;
}

int main() {
  in_turn([] { before = 1; }, [] { before = 2; });
  while (!is_followed()) usleep(1000);
  std::filesystem::remove_all(getenv("PHOTOFINISH_RUN"));
  pthread_t threads[2];
  for (pthread_t& t : threads) pthread_create(&t, nullptr, write_after, nullptr);
  for (pthread_t t : threads) pthread_join(t, nullptr);
}
