// Order between threads through file descriptors: what went in comes before what comes out (descriptors.cpp).
#pragma once
#include "runtime/thread.h"

namespace pf::rt::descriptors {

// Something goes in by this descriptor (call before), or came out of it (call after).
void post(Thread& t, int fd);
void take(Thread& t, int fd);
// Data is about to be moved from one to the other.
void flow(Thread& t, int in, int out);
// A connection is being made, or was made.
void post_at_sockets(Thread& t);
void take_from_sockets(Thread& t);

// Something was asked for that the system will tell of later (call before), or it has told of something.
void post_notice(Thread& t);
void take_notice(Thread& t);

// The descriptor joins an epoll instance (call before post), and a wait for one was answered.
void watch(Thread& t, int epoll, int fd);
void take_woken(Thread& t, int epoll);

// The number is for something new. Own: unlike the kernel, we can tell it from others of its kind.
void opened(int fd);
void opened_own(int fd);
void opened_for_notices(int fd);
void opened_pair(int a, int b);
void duplicated(int from, int to);
// It is about to be for nothing. The readers see the end, so this goes in too.
void closing(Thread* t, int fd);
void closing_all(Thread* t, unsigned first, unsigned last);  // quick: few of a range are known

}  // namespace pf::rt::descriptors
