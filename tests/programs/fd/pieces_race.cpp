// Every piece is read or written as far as the call went.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

char written[2][8], read_in[2][8], sent[2][8], received[2][8];
int ends[2], file;

void prepare(mmsghdr* messages, iovec* pieces) {
  for (int i = 0; i < 2; i++) messages[i].msg_hdr.msg_iov = &pieces[i], messages[i].msg_hdr.msg_iovlen = 1;
}

int main() {
  char name[] = "/tmp/photofinish-pieces-XXXXXX";
  file = mkstemp(name);
  unlink(name);
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) return 1;
  in_turn(
      [] {
        iovec out[2] = {{written[0], 4}, {written[1], 4}}, in[2] = {{read_in[0], 4}, {read_in[1], 8}};
        if (pwritev2(file, out, 2, 0, 0) != 8 || preadv2(file, in, 2, 0, 0) != 8) abort();
        iovec to_send[2] = {{sent[0], 4}, {sent[1], 4}}, to_receive[2] = {{received[0], 8}, {received[1], 8}};
        mmsghdr messages[2] = {};
        prepare(messages, to_send);
        if (sendmmsg(ends[0], messages, 2, 0) != 2) abort();
        prepare(messages, to_receive);
        if (recvmmsg(ends[1], messages, 2, 0, nullptr) != 2) abort();
      },
      [] {
        for (int i = 4; i < 8; i++)  // none of these
          written[0][i] = written[1][i] = read_in[0][i] = read_in[1][i] = sent[1][i] = received[1][i] = 1;
        written[1][3] = 1;   // CHECK: race: read-write on global written of 16 bytes
        read_in[1][3] = 1;   // CHECK: race: write-write on global read_in of 16 bytes
        sent[1][3] = 1;      // CHECK: race: read-write on global sent of 16 bytes
        received[1][3] = 1;  // CHECK: race: write-write on global received of 16 bytes
      });
}  // CHECK: 4 races in
