// Plays the runtime for itself: tells the modules of its own process and a race between two of its own places, so that
// the test knows which names must come out. The places are inside inlined functions.
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace bank {

int counter;  // zeroed: not in the file
int table[100] = {1};

struct Account {
  template <class T>
  __attribute__((always_inline)) void add(T amount) {
    balance += amount;
    asm volatile(".globl first_place\nfirst_place: nop");  // FIRST
  }
  __attribute__((noinline)) void deposit(int amount) {
    add(amount);  // CALLS FIRST
  }
  long balance = 0;
};

__attribute__((noinline)) void audit(const char*) {
  asm volatile(".globl second_place\nsecond_place: nop");  // SECOND
}

}  // namespace bank

extern "C" char first_place[], second_place[];

namespace {

uint64_t number(const void* p) { return reinterpret_cast<uintptr_t>(p); }

void write_modules(FILE* out) {
  FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    uint64_t start, end, offset;
    int path = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end, &offset, &path) != 3)
      continue;
    if (line[path] != '/') continue;
    line[std::strcspn(line, "\n")] = '\0';
    std::fprintf(out,
                 R"({"raw":"module","start":%)" PRIu64 R"(,"end":%)" PRIu64 R"(,"offset":%)" PRIu64 R"(,"path":"%s"})"
                 "\n",
                 start, end, offset, line + path);
  }
  std::fclose(maps);
}

void write_race(FILE* out, int key, const void* address) {
  std::fprintf(out,
               R"({"raw":"race","key":%d,"verdict":"real","address":%)" PRIu64
               R"(,"location":{"kind":"unknown"},"accesses":[)",
               key, number(address));
  std::fprintf(out, R"({"thread":0,"op":"write","size":4,"atomic":false,"locks":[],"stack":[%)" PRIu64 "]},",
               number(first_place));
  std::fprintf(out, R"({"thread":1,"op":"read","size":4,"atomic":false,"locks":[],"stack":[%)" PRIu64 "]}]}\n",
               number(second_place));
}

}  // namespace

int main(int argc, char**) {
  bank::Account account;
  account.deposit(argc);
  bank::audit("all");
  bank::counter = argc;
  const std::string file = std::string(std::getenv("PHOTOFINISH_RUN")) + "/" + std::to_string(getpid()) + ".0.raw";
  FILE* out = std::fopen(file.c_str(), "w");
  write_modules(out);
  write_race(out, 1, &bank::counter);
  write_race(out, 2, &bank::table[2]);
  std::fclose(out);
}
