// How long a program runs for sampling to find something, or nothing.
#pragma once
#include <time.h>

static inline int seconds_since(const struct timespec* start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int)(now.tv_sec - start->tv_sec);
}
static inline struct timespec start_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now;
}
