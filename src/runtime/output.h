// The process's file in the run directory (docs/run-directory.md): lines go out whole and at once.
#pragma once
#include "runtime/say.h"

namespace pf::rt::output {

// Reads the environment; opens nothing yet.
void initialize(char** environment);
// In the child after fork: a file of its own from here on.
void start_over();
// Nothing is written any more, and nobody is told.
void stop();

// Writes a line; opens the file, and says who writes, before the first.
void line(Text& text);
// Writes the mappings of files that changed since the last time.
void modules();

// What the mappings tell of an address that nothing else is known of: `heap` (the one that the kernel calls so: the main arena of libc), `mapped`
// (no file's), or `unknown`.
const char* kind_of(uintptr_t address);

// Whether `photofinish run` is our parent and decides about the exit code.
const char* directory();  // null if there is none yet
bool supervised();
// Whether this descriptor is ours: a program that closes all descriptors does not mean it.
bool is_ours(int fd);
int descriptor();  // -1 for none
// The program wants this number for itself: if it is ours, we take another, and it stays open for the program to replace.
void make_way(int fd);

}  // namespace pf::rt::output
