// A queue of POSIX messages that is this process's alone, and gone with it.
#pragma once
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <unistd.h>

// Negative if there can be none.
inline mqd_t own_queue(long message_bytes) {
  char name[64];
  snprintf(name, sizeof name, "/photofinish-%d", getpid());
  mq_attr attributes = {};
  attributes.mq_maxmsg = 4;
  attributes.mq_msgsize = message_bytes;
  const mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
  return mq_unlink(name) == 0 ? queue : -1;
}
