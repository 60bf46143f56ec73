// Order between threads through file descriptors: what was written comes before what reads it (descriptors.cpp).
#pragma once
#include "runtime/intercept/intercept.h"

namespace pf::rt::descriptors {

// Something goes in by this descriptor (call before), or came out of it (call after).
void post(Thread& t, int fd);
void take(Thread& t, int fd);

// The number is for something new, or is about to be for nothing; closing also goes in: readers see the end.
void opened(int fd);
void closing(Thread* t, int fd);

}  // namespace pf::rt::descriptors
