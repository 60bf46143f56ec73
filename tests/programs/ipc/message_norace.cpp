// A message orders its sender before its receiver, in a queue of POSIX or of System V.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "ipc/queue.h"
#include "order.h"
#include <string.h>
#include <sys/msg.h>
#include <time.h>

struct Message {
  long type;
  char text[16];
};
int shared, old_queue;
mqd_t queue;
const timespec kNever = {1L << 40, 0};

int main() {
  queue = own_queue(16);
  old_queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  mq_attr attributes;
  if (queue < 0 || old_queue < 0 || mq_getattr(queue, &attributes)) return 1;
  together(
      [] {
        shared = 1;
        if (mq_send(queue, "one", 4, 0)) return;
        Message m;
        if (msgrcv(old_queue, &m, sizeof m.text, 0, 0) != 4 || strcmp(m.text, "two") != 0) return;
        shared++;
        if (mq_timedsend(queue, "three", 6, 1, &kNever)) return;
      },
      [] {
        char text[16];
        unsigned priority = 5;
        if (mq_receive(queue, text, sizeof text, &priority) != 4 || priority != 0) return;
        shared++;
        Message m = {1, "two"};
        if (msgsnd(old_queue, &m, 4, 0)) return;
        if (mq_timedreceive(queue, text, sizeof text, nullptr, &kNever) != 6) return;
        shared++;
      });
  mq_close(queue);
  msgctl(old_queue, IPC_RMID, nullptr);
  return shared - 4;
}
