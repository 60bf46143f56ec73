// Who asks to be notified of a message, and who sends it, come before the notification: a thread of libc's.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "ipc/queue.h"
#include "order.h"
#include <semaphore.h>
#include <signal.h>

int asked, sent;
sem_t done;

void notified(sigval) {
  asked++;
  sent++;
  sem_post(&done);
}

int main() {
  const mqd_t queue = own_queue(16);
  if (queue < 0) return 1;
  sem_init(&done, 0, 0);
  asked = 1;
  sigevent how = {};
  how.sigev_notify = SIGEV_THREAD;
  how.sigev_notify_function = notified;
  if (mq_notify(queue, &how)) return 2;
  sent = 1;
  if (mq_send(queue, "x", 1, 0)) return 3;
  sem_wait(&done);
  return asked == 2 && sent == 2 ? 0 : 4;
}
