// load PORT CONNECTIONS REQUESTS: asks a memcached at loopback, one thread per connection, REQUESTS times each: one set of a
// key of the thread's own to nine gets of anybody's keys, ten requests in one packet. Prints a checksum of the values that
// only this thread writes, and the seconds it took. Fails on the first answer that is not well-formed.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kKeys = 512, kValue = 100, kBatch = 10 };

struct Client {
  pthread_t thread;
  int id, port, connections, requests;
  FILE *in, *out;
  uint64_t random, sum;
};

static void fail(const char* what) {
  fprintf(stderr, "load: %s\n", what);
  exit(1);
}

static uint64_t draw(uint64_t* state) {  // xorshift
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void connect_to(struct Client* c) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (fd < 0 || connect(fd, (struct sockaddr*)&address, sizeof address) < 0) fail("cannot connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  c->in = fdopen(fd, "r");
  c->out = fdopen(dup(fd), "w");
}

static void send_set(struct Client* c, int key, unsigned number) {
  fprintf(c->out, "set %d-%d 0 0 %d\r\n%0*u\r\n", c->id, key, kValue, kValue, number);
}

static void expect(struct Client* c, const char* text) {
  char line[2 * kValue];
  if (!fgets(line, sizeof line, c->in) || strcmp(line, text) != 0) fail("an answer that was not asked for");
}

// The value of one get; 0 when the key is not there.
static unsigned receive_value(struct Client* c) {
  char line[2 * kValue];
  if (!fgets(line, sizeof line, c->in)) fail("the server hung up");
  if (strcmp(line, "END\r\n") == 0) return 0;
  if (strncmp(line, "VALUE ", 6) != 0 || !fgets(line, sizeof line, c->in)) fail("an answer that is no value");
  if (strlen(line) != kValue + 2) fail("a value of the wrong length");
  expect(c, "END\r\n");
  return (unsigned)strtoul(line, NULL, 10);
}

static void exchange(struct Client* c, unsigned number) {
  int own[kBatch] = {0};
  send_set(c, (int)(draw(&c->random) % kKeys), number);
  for (int i = 1; i < kBatch; ++i) {
    int id = (int)(draw(&c->random) % (uint64_t)c->connections);
    own[i] = id == c->id;
    fprintf(c->out, "get %d-%d\r\n", id, (int)(draw(&c->random) % kKeys));
  }
  fflush(c->out);
  expect(c, "STORED\r\n");
  for (int i = 1; i < kBatch; ++i) {
    unsigned value = receive_value(c);
    if (own[i]) c->sum = c->sum * 31 + value;
  }
}

static void* work(void* argument) {
  struct Client* c = argument;
  for (int n = 0; n < c->requests / kBatch; ++n) exchange(c, (unsigned)n + 1);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: load PORT CONNECTIONS REQUESTS");
  int connections = atoi(argv[2]);
  struct Client* clients = calloc((size_t)connections, sizeof *clients);
  for (int i = 0; i < connections; ++i) {
    clients[i] = (struct Client){.id = i, .port = atoi(argv[1]), .connections = connections, .requests = atoi(argv[3])};
    clients[i].random = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
    connect_to(&clients[i]);
  }
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < connections; ++i) pthread_create(&clients[i].thread, NULL, work, &clients[i]);
  uint64_t sum = 0;
  for (int i = 0; i < connections; ++i) {
    pthread_join(clients[i].thread, NULL);
    sum = sum * 31 + clients[i].sum;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("checksum %llu\n", (unsigned long long)sum);
  printf("seconds %.6f\n", (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9);
  return 0;
}
