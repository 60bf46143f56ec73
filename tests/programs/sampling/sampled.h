// A stretch of the program in a sampling period of its own.
#pragma once

extern "C" void AnnotateSampling(const char* file, int line, int on);

template <class F>
void sampled(F f) {
  AnnotateSampling(__FILE__, __LINE__, 1);
  f();
  AnnotateSampling(__FILE__, __LINE__, 0);
}
