// Arguments, environment, standard input and output are the program's own.
// RUN: %cc -O1 %s -o %t && echo "a line" | env COLOUR=blue %norace %t one "two three" "" | %FileCheck %s
// CHECK: 4 one/two three/
// CHECK: COLOUR=blue
// CHECK: input a line
#include <stdio.h>
#include <stdlib.h>

int lines;

int main(int argc, char** argv) {
  char line[64];
  printf("%d %s/%s/%s\n", argc, argv[1], argv[2], argv[3]);
  printf("COLOUR=%s\n", getenv("COLOUR"));
  while (fgets(line, sizeof line, stdin)) {
    lines++;
    printf("input %s", line);
  }
  return lines - 1;
}
