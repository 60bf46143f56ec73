// While an access is held back, a handler of a signal changes the value: on the same thread, so that nobody else has written.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "collision,rate=100%%,overhead=100%%,delay=5ms clockrace,rate=100%%,overhead=100%%" %norace %t
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

volatile long value, sum;
std::atomic<bool> done;

void add(int) { value = value + 1; }

void* work(void*) {
  for (int i = 0; i < 200; ++i) sum = sum + value;
  done = true;
  return nullptr;
}

int main() {
  signal(SIGUSR1, &add);
  pthread_t worker;
  pthread_create(&worker, nullptr, &work, nullptr);
  while (!done) {
    pthread_kill(worker, SIGUSR1);
    usleep(300);
  }
  pthread_join(worker, nullptr);
}
