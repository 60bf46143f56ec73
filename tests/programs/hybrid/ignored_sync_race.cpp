// A mutex that is given up while the program asks to ignore synchronization is given up all the same.
// RUN: %cxx -O1 %s -o %t
// RUN: %with multilock %race %t | %FileCheck %s
// RUN: %with simplelock,q=0 %race %t | %FileCheck %s
#include "order.h"

extern "C" void AnnotateIgnoreSyncBegin(const char*, int);
extern "C" void AnnotateIgnoreSyncEnd(const char*, int);

int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main() {
  in_turn(
      [] {
        pthread_mutex_lock(&mutex);
        for (int i = 0; i < 2; i++) {
          shared = 1;
          if (i != 0) continue;
          AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
          pthread_mutex_unlock(&mutex);
          AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
        }
      },
      [] {
        pthread_mutex_lock(&mutex);
        shared = 2;
        pthread_mutex_unlock(&mutex);
      });
}
