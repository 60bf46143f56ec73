// The operation uses its buffer until somebody has learned of its end: an access before that races with it, though it comes
// after the request.
// RUN: %cxx -O1 -DSTART=aio_read %s -o %t1 && %race %t1 | %FileCheck --check-prefixes=CHECK,READ %s
// RUN: %cxx -O1 -DSTART=aio_write %s -o %t2 && %race %t2 | %FileCheck --check-prefixes=CHECK,WRITE %s
#include "aio/file.h"
#include "order.h"

// READ: race: write-write on global buffer of 64 bytes
// WRITE: race: read-write on global buffer of 64 bytes
char buffer[64];

int main() {
  const int fd = nameless_file();
  if (fd < 0 || write(fd, buffer, sizeof buffer) != sizeof buffer) return 1;
  aiocb request = {};
  request.aio_fildes = fd;
  request.aio_buf = buffer;
  request.aio_nbytes = 40;
  // CHECK: of 40 bytes by thread 1 (aio)
  const int started = START(&request);  // CHECK-NEXT: #0 main {{.*}}[[FILE]]:[[#@LINE]]
  buffer[39] = 1;                       // CHECK: #0 main {{.*}}[[FILE]]:[[#@LINE]]
  buffer[40] = 1;
  if (started == 0) wait_for_end(&request);
  return aio_return(&request) == 40 ? 0 : 2;  // CHECK: 1 race in
}
