// What the sender does after its message is not ordered by it.
// RUN: %cxx -O1 -DPOSIX %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 %s -o %t2 && %race %t2 | %FileCheck %s
#include "ipc/queue.h"
#include "order.h"
#include <sys/msg.h>

struct Message {
  long type;
  char text[8];
};
int shared, queue;  // CHECK: race: write-write on global shared of 4 bytes

#ifdef POSIX
bool make() { return (queue = own_queue(sizeof(Message))) >= 0; }
void send(const Message& m) { mq_send(queue, reinterpret_cast<const char*>(&m), sizeof m, 0); }
void receive(Message& m) { mq_receive(queue, reinterpret_cast<char*>(&m), sizeof m, nullptr); }
void remove() { mq_close(queue); }
#else
bool make() { return (queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600)) >= 0; }
void send(const Message& m) { msgsnd(queue, &m, sizeof m.text, 0); }
void receive(Message& m) { msgrcv(queue, &m, sizeof m.text, 0, 0); }
void remove() { msgctl(queue, IPC_RMID, nullptr); }
#endif

int main() {
  if (!make()) return 1;
  in_turn(
      [] {
        send({1, "hello"});
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        Message m;
        receive(m);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
  remove();  // CHECK: 1 race in
}
