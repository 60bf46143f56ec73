// Many operations at a time, of several threads.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "aio/file.h"
#include "order.h"

constexpr int kAtOnce = 80;
int fd;

void* operate(void*) {
  static thread_local char buffers[kAtOnce][16];
  aiocb requests[kAtOnce] = {};
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < kAtOnce; i++) {
      buffers[i][0]++;
      requests[i].aio_fildes = fd;
      requests[i].aio_buf = buffers[i];
      requests[i].aio_nbytes = sizeof buffers[i];
      if (aio_write(&requests[i])) abort();
    }
    for (int i = 0; i < kAtOnce; i++) {
      const aiocb* one[] = {&requests[i]};
      while (aio_error(&requests[i]) == EINPROGRESS) aio_suspend(one, 1, nullptr);
      if (aio_return(&requests[i]) != sizeof buffers[i]) abort();
      buffers[i][0]++;
    }
  }
  return nullptr;
}

int main() {
  fd = nameless_file();
  pthread_t threads[3];
  for (auto& t : threads) pthread_create(&t, nullptr, operate, nullptr);
  for (auto& t : threads) pthread_join(t, nullptr);
}
