// The string functions stop at the terminator: what lies behind it belongs to another thread.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>
#include <string.h>

char text[16] = "word", other[16] = "abc", target[16];

int main() {
  use(text);
  use(other);
  in_turn(
      [] {
        use(strlen(text));
        use(strcmp(text, other));
        use(strchr(text, 'z'));
        strcpy(target, text);
        strncpy(target + 8, other, 2);
        char* copy = strdup(text);
        use(copy);
        free(copy);
      },
      [] {
        text[5] = 'x';
        other[4] = 'x';
        target[5] = 'x';
        target[10] = 'x';
      });
}
