// A word that begins in one 8-byte cell and ends in the next, if the object is aligned to 16.
#pragma once

template <class T>
struct __attribute__((packed)) Across {
  char head[8 - sizeof(T) / 2];
  T word;
  char tail[8 - sizeof(T) / 2];
};
