// pthread_once for the program and for call_once of C11.
#pragma once
#include <pthread.h>

namespace pf::rt {

int once(pthread_once_t* control, void (*function)());

}  // namespace pf::rt
