// rss OUT PROGRAM ARGS...: runs PROGRAM and writes its peak memory (KiB), processor and wall seconds to OUT as one line of JSON.
// Exits as PROGRAM did. Linked statically, so that it is small, and that what is preloaded into PROGRAM is not into it:
// a child's peak begins with the memory of the process that forked it.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: rss OUT PROGRAM ARGS...\n");
    return 2;
  }
  double start = now();
  pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  while (wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) {
      perror("rss: wait4");
      return 2;
    }
  }
  double wall = now() - start;
  FILE* out = fopen(argv[1], "w");
  if (!out) {
    perror(argv[1]);
    return 2;
  }
  fprintf(out, "{\"rss\": %ld, \"user\": %.6f, \"system\": %.6f, \"wall\": %.6f}\n", usage.ru_maxrss, seconds(usage.ru_utime),
          seconds(usage.ru_stime), wall);
  fclose(out);
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  return WEXITSTATUS(status);
}
