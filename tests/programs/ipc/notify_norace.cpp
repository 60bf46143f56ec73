// Who asks to be notified of a message, and who sends it, come before the notification: a thread of libc's.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int asked, sent;
sem_t done;

void notified(sigval) {
  asked++;
  sent++;
  sem_post(&done);
}

int main() {
  char name[64];
  snprintf(name, sizeof name, "/photofinish-%d", getpid());
  mq_attr attributes = {};
  attributes.mq_maxmsg = 4;
  attributes.mq_msgsize = 16;
  const mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
  if (queue < 0 || mq_unlink(name)) return 1;
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
