// What comes out by splice, tee, sendfile and copy_file_range brings along what came before it went in.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

int shared, in[2], middle[2], copies[2], out[2], from, to;

// Between the two that know of each other by the data alone; it stands in the call when they begin.
void* move(void*) {
  if (splice(in[0], nullptr, middle[1], nullptr, 1, 0) != 1) abort();
  if (tee(middle[0], copies[1], 1, 0) != 1) abort();
  if (splice(copies[0], nullptr, out[1], nullptr, 1, 0) != 1) abort();
  return nullptr;
}

int main() {
  char name[] = "/tmp/photofinish-moved-XXXXXX", other[] = "/tmp/photofinish-moved-XXXXXX";
  from = mkstemp(name), to = mkstemp(other);
  unlink(name), unlink(other);
  if (pipe(in) || pipe(middle) || pipe(copies) || socketpair(AF_UNIX, SOCK_STREAM, 0, out)) return 1;
  pthread_t mover;
  pthread_create(&mover, nullptr, move, nullptr);
  usleep(20000);
  together(
      [] {
        shared = 1;
        if (write(in[1], "x", 1) != 1) abort();
      },
      [] {
        char byte;
        if (read(out[0], &byte, 1) != 1 || byte != 'x') abort();
        shared++;
      });
  pthread_join(mover, nullptr);
  if (write(from, "whole file", 10) != 10) return 2;
  off64_t in_at = 0, out_at = 0;
  off_t at = 2;
  if (copy_file_range(from, &in_at, to, &out_at, 10, 0) != 10 || sendfile(out[1], to, &at, 8) != 8) return 3;
  return shared == 2 && in_at == 10 && out_at == 10 && at == 10 ? 0 : 4;
}
