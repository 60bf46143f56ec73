// The exit code of a program without a race is its own.
// RUN: %cc -O1 %s -o %t && %exits 7 %run %t && %exits 0 %run %t zero && %exits 255 %run %t all ones
int main(int argc, char** argv) {
  (void)argv;
  return argc == 1 ? 7 : argc == 2 ? 0 : -1;
}
