// A thread wakes another that sleeps in epoll_wait, by an eventfd.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int shared, event, poller;

int main() {
  event = eventfd(0, 0);
  poller = epoll_create1(0);
  epoll_event interest = {};
  interest.events = EPOLLIN;
  if (epoll_ctl(poller, EPOLL_CTL_ADD, event, &interest) != 0) return 1;
  together(
      [] {
        shared = 1;
        long token = 1;
        if (write(event, &token, sizeof token) != sizeof token) shared = 100;
      },
      [] {
        epoll_event ready;
        while (epoll_wait(poller, &ready, 1, -1) != 1) continue;
        long token;
        if (read(event, &token, sizeof token) == sizeof token) shared++;
      });
  return shared - 2;
}
