// The locks that each side held are listed, one, two and none.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER, three = PTHREAD_MUTEX_INITIALIZER;
// CHECK: first {{ *}}write of 4 bytes by thread 1, holding {{[^,]+}},{{ .+}}
// CHECK: second {{ *}}read {{ *}}of 4 bytes by thread 2, no lock held
int main() {
  in_turn(
      [] {
        pthread_mutex_lock(&one);
        pthread_mutex_lock(&three);
        pthread_mutex_unlock(&three);
        pthread_mutex_lock(&two);
        shared = 1;
        pthread_mutex_unlock(&two);
        pthread_mutex_unlock(&one);
      },
      [] { use(shared); });
}
