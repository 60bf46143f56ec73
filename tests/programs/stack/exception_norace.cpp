// Exceptions thrown, caught and thrown again in two threads at once share nothing.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdexcept>
#include <string>

thread_local int caught;

static void work() {
  for (int i = 0; i < 20; i++) {
    try {
      try {
        throw std::runtime_error(std::string(100, 'x'));
      } catch (const std::exception&) {
        throw;
      }
    } catch (const std::runtime_error& error) {
      caught += static_cast<int>(error.what()[0]);
    }
  }
  use(caught);
}

int main() { together(work, work); }
