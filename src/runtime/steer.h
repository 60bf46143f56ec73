// Steering of a program to a race (photofinish confirm): of all its instructions only two places are looked at, whoever comes to one of them
// waits there for the other, and who comes while another thread waits, for the same memory, has raced with it.
//
// What PHOTOFINISH_STEER says, in lines: which places wait (1 the first, 2 the second, 3 both) and how many visits of each go by
// before; then the places: which of the two, the first and the last byte of its code from where the module is loaded, and the module's file
// name (- for the program).
#pragma once
#include <cstdint>

namespace pf::rt::steer {

// Once, before there is a second thread. Null: nothing is steered.
void start(const char* text);
bool is_on();

// Whether the call that returns to pc is at one of the places.
bool is_place(uintptr_t pc);
// Whether the thread that came there is to wait, this time.
bool is_to_wait(uintptr_t pc);

// The code of all places, for each byte of it.
void for_each_byte(void (*take)(uintptr_t offset));

}  // namespace pf::rt::steer
