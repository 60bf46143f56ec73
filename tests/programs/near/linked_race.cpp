// However a program is linked, its hot calls go to a copy of the runtime's code near it, and the race is where it was.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck --check-prefixes=CHECK,DIRECT %s
// RUN: strip %t -o %t.bare && %exits 66 %run %t.bare | %FileCheck --check-prefix=DIRECT %s
// RUN: env PHOTOFINISH_OPTIONS=near=0 %race %t | %FileCheck --check-prefixes=CHECK,TABLE %s
// RUN: %cxx -O1 -no-pie %s -o %t && %race %t | %FileCheck --check-prefixes=CHECK,DIRECT %s
// RUN: %cxx -O1 -Wl,-z,now %s -o %t && %race %t | %FileCheck --check-prefixes=CHECK,DIRECT %s
// RUN: %cxx -O1 -fcf-protection=full -Wl,-z,ibtplt %s -o %t && %race %t | %FileCheck --check-prefixes=CHECK,DIRECT %s
// RUN: %cxx -O1 -fuse-ld=lld %s -o %t && %race %t | %FileCheck --check-prefixes=CHECK,DIRECT %s
// RUN: %cxx -O1 --runtime=static %s -o %t && %race %t | %FileCheck %s
// DIRECT: calls directly
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
