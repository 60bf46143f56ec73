// Whoever learns that an operation is over may use its buffer: by aio_error, aio_return, aio_suspend, lio_listio, aio_cancel, a
// thread or a signal that tells of it.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit shb multilock" %norace %t
#include "aio/file.h"
#include "order.h"
#include <semaphore.h>
#include <signal.h>
#include <string.h>

char buffer[64];
int fd, told;
aiocb request;
sem_t done;

void prepare(int operation) {
  memset(&request, 0, sizeof request);
  request.aio_fildes = fd;
  request.aio_buf = buffer;
  request.aio_nbytes = sizeof buffer;
  request.aio_lio_opcode = operation;
  request.aio_sigevent.sigev_notify = SIGEV_NONE;
  buffer[0]++;
}
bool finish() {
  wait_for_end(&request);
  buffer[1]++;
  return aio_return(&request) == sizeof buffer;
}
void by_thread(sigval) {
  buffer[2]++;
  told++;
  sem_post(&done);
}
void by_signal(int, siginfo_t*, void*) { buffer[3]++, told++; }

int main() {
  fd = nameless_file();
  sem_init(&done, 0, 0);

  prepare(LIO_WRITE);
  if (aio_write(&request) || !finish()) return 1;

  prepare(LIO_READ);
  const aiocb* list[] = {nullptr, &request};
  if (aio_read(&request) || aio_suspend(list, 2, nullptr)) return 2;
  buffer[1]++;
  if (aio_return(&request) != sizeof buffer) return 3;

  prepare(LIO_WRITE);
  aiocb* whole[] = {&request};
  if (lio_listio(LIO_WAIT, whole, 1, nullptr)) return 4;
  buffer[1]++;
  if (aio_return(&request) != sizeof buffer) return 5;

  prepare(LIO_WRITE);
  if (aio_write(&request)) return 6;
  while (aio_cancel(fd, nullptr) == AIO_NOTCANCELED) usleep(100);
  buffer[1]++;
  aio_error(&request), aio_return(&request);

  prepare(LIO_READ);
  request.aio_sigevent.sigev_notify = SIGEV_THREAD;
  request.aio_sigevent.sigev_notify_function = by_thread;
  if (aio_read(&request)) return 7;
  sem_wait(&done);
  if (told != 1 || !finish()) return 8;

  struct sigaction action = {};
  action.sa_sigaction = by_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, nullptr);
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  prepare(LIO_READ);
  request.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
  request.aio_sigevent.sigev_signo = SIGUSR1;
  if (aio_read(&request)) return 9;
  sigsuspend(&before);
  buffer[3]++;
  return told == 2 ? 0 : 10;
}
