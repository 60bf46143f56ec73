// What a program can tell Photofinish. Without it every line here does nothing and costs a test of a pointer.
#ifndef PHOTOFINISH_PHOTOFINISH_H
#define PHOTOFINISH_PHOTOFINISH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void photofinish_uses(const void* memory, size_t size);

#ifdef __cplusplus
}
#endif

// The thread's next call into a library without instrumentation uses this memory as well, though no argument leads there: a global of
// the program, say, which the library keeps a pointer to. (docs/recording.md)
#define PHOTOFINISH_USES(memory, size)                                                                                 \
  do {                                                                                                                 \
    if (photofinish_uses != NULL) photofinish_uses((memory), (size));                                                  \
  } while (0)

#endif
