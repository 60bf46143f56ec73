// A file without a name, for operations on it.
#pragma once
#include <aio.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

inline int nameless_file() {
  char name[] = "/tmp/photofinish-aio-XXXXXX";
  const int fd = mkstemp(name);
  unlink(name);
  return fd;
}

// The kernel and libc's threads take their time; asking again and again is how a program learns of the end.
inline void wait_for_end(const aiocb* request) {
  while (aio_error(request) == EINPROGRESS) usleep(100);
}
