// The string functions read up to the terminator and write what they copy: each races with a plain access.
// RUN: %cxx -O1 -DCALL="strlen(text)" -DTOUCH="text[3]=1" %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="strcpy(text,other)" -DTOUCH="text[3]=1" %s -o %t2 && %race %t2 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="strncpy(text,other,6)" -DTOUCH="text[5]=1" %s -o %t3 && %race %t3 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="strchr(text,0x7a)" -DTOUCH="text[2]=1" %s -o %t5 && %race %t5 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="strcmp(text,other)" -DTOUCH="text[0]=1" %s -o %t6 && %race %t6 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="strdup(text)" -DTOUCH="text[1]=1" %s -o %t7 && %race %t7 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="strstr(text,other)" -DTOUCH="text[0]=1" %s -o %t8 && %race %t8 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="strcat(text,other)" -DTOUCH="text[4]=1" %s -o %t4 && %race %t4 | %FileCheck %s
#include "order.h"
#include <string.h>

char text[16] = "word", other[16] = "abc";  // CHECK: race: {{read|write}}-write on global text of 16 bytes

int main() {
  use(text);
  use(other);
  in_turn([] { use(CALL); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { TOUCH; });     // CHECK: [[FILE]]:[[#@LINE]]
}
