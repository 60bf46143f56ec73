// To send is to read the buffer, to receive is to write it: of the message's length, not of the room there was.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "ipc/queue.h"
#include "order.h"
#include <sys/msg.h>

struct Message {
  long type;
  char text[16];
};
char sent[16] = "hello", received[16];
Message old_sent = {1, "hello"}, old_received;
int old_queue;
mqd_t queue;

int main() {
  queue = own_queue(16);
  old_queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  if (queue < 0 || old_queue < 0) return 1;
  in_turn(
      [] {
        mq_send(queue, sent, 6, 0);
        mq_receive(queue, received, 16, nullptr);
        msgsnd(old_queue, &old_sent, 6, 0);
        msgrcv(old_queue, &old_received, 16, 0, 0);
      },
      [] {
        // CHECK: race: read-write on global sent of 16 bytes
        sent[5] = 1, sent[6] = 1;
        // CHECK: race: write-write on global received of 16 bytes
        received[5] = 1, received[6] = 1;
        // CHECK: race: read-write on global old_sent of 24 bytes
        old_sent.text[5] = 1, old_sent.text[6] = 1;
        // CHECK: race: write-write on global old_received of 24 bytes
        old_received.text[5] = 1, old_received.text[6] = 1;
      });
  msgctl(old_queue, IPC_RMID, nullptr);  // CHECK: 4 races in
}
