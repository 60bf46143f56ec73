// The rate is changed from outside while the program runs, by the number of the program or of its supervisor.
// RUN: %cxx -O1 %s -o %t && rm -f %t.pid %t.go && %exits 66 %photofinish run -e pacer,rate=0,period=1 -- %t %t.pid %t.go %photofinish | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <thread>

std::mutex lock;
int early, late;  // CHECK-NOT: global early

void race(int& x) {
  std::thread one([&] { x = 1; }), two([&] { x = 2; });
  one.join();
  two.join();
}

// The program asks for itself: what counts is the other process that does it.
void control(const char* photofinish, const std::string& what) {
  const std::string command = std::string(photofinish) + " ctl " + what;
  if (system(command.c_str()) != 0) exit(3);
}

int main(int, char** arguments) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  race(early);
  control(arguments[3], std::to_string(getpid()));                  // CHECK: rate=0%
  control(arguments[3], std::to_string(getppid()) + " rate=100%");  // CHECK: rate=100%, was 0%
  for (int i = 0; i < 10; ++i) std::lock_guard{lock};
  race(late);  // CHECK: race: write-write on global late
}
