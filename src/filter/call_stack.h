// The calls a thread is in, as its Call and Return events tell.
#pragma once
#include <cstdint>
#include <vector>

namespace pf {

// A return from the function. Jumps and exceptions leave several calls at once. What was entered before the trace began is not there
// to be left.
template <class Frame>
void leave_function(std::vector<Frame>& stack, uint64_t function) {
  for (std::size_t i = stack.size(); i-- > 0;) {
    if (stack[i].function == function) return stack.resize(i);
  }
}

}  // namespace pf
