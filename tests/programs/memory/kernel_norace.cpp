// Random bytes, and process_vm_readv and process_vm_writev under a lock; another process's memory is not this one's.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

char bytes[16], others[8] = "others";
int ends[2];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pid_t child;

void move() {
  pthread_mutex_lock(&lock);
  if (getrandom(bytes, 8, 0) != 8 || getentropy(bytes, 8)) abort();
  iovec here = {bytes, 8}, there = {bytes + 8, 8};
  if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 8) abort();
  if (process_vm_writev(getpid(), &here, 1, &there, 1, 0) != 8) abort();
  pthread_mutex_unlock(&lock);
}
// May be forbidden here; then nothing happens to `others` anyhow.
void move_to_child() {
  char own[8] = {};
  iovec here = {own, 8}, there = {others, 8};
  use(process_vm_readv(child, &here, 1, &there, 1, 0));
  use(process_vm_writev(child, &here, 1, &there, 1, 0));
}

int main() {
  if (pipe(ends)) return 1;
  child = fork();
  if (child == 0) {
    char byte;
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  together([] { move(), move_to_child(); },
           [] {
             move();
             others[0] = 'O';
             move_to_child();
           });
  close(ends[1]);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}
