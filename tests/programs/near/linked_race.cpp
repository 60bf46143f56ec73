// However a program is linked, its hot calls lead to the runtime's code in it or near it, and the race is where it was.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck --check-prefixes=CHECK,CODE %s
// RUN: strip %t -o %t.bare && %exits 66 %run %t.bare | %FileCheck --check-prefix=CODE %s
// RUN: env PHOTOFINISH_OPTIONS=near=0 %race %t | %FileCheck --check-prefixes=CHECK,TABLE %s
// RUN: %refusing code 1 %race %t | %FileCheck --check-prefixes=CHECK,TABLE %s
// RUN: %cxx -O1 -no-pie %s -o %t && %race %t | %FileCheck --check-prefixes=CHECK,CODE %s
// RUN: %cxx -O1 -fcf-protection=full -Wl,-z,now,--gc-sections %s -o %t && %race %t | %FileCheck --check-prefixes=CHECK,CODE %s
// RUN: %cxx -O1 -fuse-ld=lld %s -o %t && %race %t | %FileCheck --check-prefixes=CHECK,CODE %s
// RUN: %cxx -O1 --runtime=static %s -o %t && %race %t | %FileCheck %s
// By others than the wrapper:
// RUN: %cxx -O1 -c %s -o %t.o && %plainxx %t.o %runtime -o %t && %race %t | %FileCheck --check-prefixes=CHECK,JUMP %s
// RUN: env PHOTOFINISH_OPTIONS=near=0 %race %t | %FileCheck --check-prefixes=CHECK,TABLE %s
// RUN: %refusing code 1 %race %t | %FileCheck --check-prefixes=CHECK,TABLE %s
// RUN: %plainxx %t.o %runtime -Wl,-z,now -o %t && %race %t | %FileCheck --check-prefixes=CHECK,JUMP %s
// RUN: %plainxx %t.o %runtime -Wl,-z,ibtplt -o %t && %race %t | %FileCheck --check-prefixes=CHECK,JUMP %s
// RUN: %plainxx %t.o %runtime -fuse-ld=lld -o %t && %race %t | %FileCheck --check-prefixes=CHECK,JUMP %s
// RUN: %cxx -O1 -fno-pie -c %s -o %t.o && %plainxx %t.o %runtime -no-pie -o %t && %race %t | %FileCheck --check-prefixes=CHECK,JUMP %s
// CODE: calls the code
// JUMP: calls by a direct jump
// TABLE-NOT: unknown key
// TABLE: calls by a table
#include "near/calls.h"
#include "order.h"

long balance;  // CHECK: race: write-{{read|write}} on global balance of 8 bytes

[[gnu::noinline]] void deposit() { balance = balance + 1; }  // CHECK: deposit {{.*}}[[FILE]]:[[#@LINE]]

int main() {
  tell_how_it_calls(&deposit);
  in_turn([] { deposit(); }, [] { deposit(); });
}
