// Jobs through a GThreadPool; each looks words up in a table of lists that all share, and hands its answer over by a GAsyncQueue.
#include <glib.h>

#include <cstdio>
#include <cstdlib>

struct Job {
  int number;
  char* word;
  guint answer;
};

static GHashTable* table;  // word -> list of its numbers
static GAsyncQueue* answers;

static void work(gpointer item, gpointer) {
  auto* job = static_cast<Job*>(item);
  auto* list = static_cast<GList*>(g_hash_table_lookup(table, job->word));
  job->answer = g_list_length(list) + static_cast<guint>(job->number);
  g_async_queue_push(answers, job);
}

int main(int, char** arguments) {
  const int threads = atoi(arguments[1]), jobs = atoi(arguments[2]);
  table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, reinterpret_cast<GDestroyNotify>(g_list_free));
  for (int i = 0; i < 20; ++i) {
    GList* list = nullptr;
    for (int n = 0; n < 5; ++n) list = g_list_prepend(list, GINT_TO_POINTER(n));
    g_hash_table_insert(table, g_strdup_printf("word %d", i), list);
  }
  answers = g_async_queue_new();
  GThreadPool* pool = g_thread_pool_new(work, nullptr, threads, TRUE, nullptr);
  unsigned long sum = 0;
  for (int begun = 0, ended = 0; ended < jobs;) {
    if (begun < jobs && begun - ended < 16) {
      g_thread_pool_push(pool, new Job{begun, g_strdup_printf("word %d", begun % 25), 0}, nullptr);
      ++begun;
      continue;
    }
    auto* job = static_cast<Job*>(g_async_queue_pop(answers));
    sum += job->answer;
    g_free(job->word);
    delete job;
    ++ended;
  }
  g_thread_pool_free(pool, FALSE, TRUE);
  g_hash_table_unref(table);
  std::printf("%lu\n", sum);
}
