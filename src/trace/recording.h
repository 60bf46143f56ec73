// The windows of a recording (core/recording.h), read in one order that is consistent with what happened: by stamp, and where stamps
// are equal by thread. Memory grows with the threads, not with the events.
#pragma once
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/recording.h"
#include "core/result.h"

namespace pf {

struct RecordedEvent {
  Event event;  // without a site
  uint64_t pc = 0;
};

class Recording {
 public:
  static Result<Recording> open(const std::string& directory);
  Recording(Recording&&) noexcept;
  ~Recording();

  // False at the end.
  bool next(RecordedEvent& out);
  void rewind();

  uint64_t bytes_total() const { return total_; }
  uint64_t bytes_read() const { return read_; }
  // Whether a ring has dropped the beginning.
  bool is_cut() const { return cut_ != 0; }
  uint64_t damaged() const { return damaged_; }  // windows with something after which nothing could be read

 private:
  class Reader;
  struct Turn {
    uint64_t stamp;
    uint32_t thread;
    Reader* reader;
    bool operator>(const Turn& other) const { return std::tie(stamp, thread) > std::tie(other.stamp, other.thread); }
  };

  Recording();
  void enqueue(Reader& reader);

  std::map<uint32_t, std::unique_ptr<Reader>> readers_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  uint64_t total_ = 0, read_ = 0, damaged_ = 0;
  uint64_t cut_ = 0;  // what happened up to this stamp is not complete
};

// What a thread had begun when a cut recording begins, told by how it ends: these events go before all others.
std::vector<Event> begun_before(Recording& recording);

// Recorded events as a trace has them: long accesses in several parts; blocks that begin and end one after the other, for
// of stacks and mappings the ends are not told, and parts of them end and begin again.
class Tidier {
 public:
  void add(const Event& event, std::vector<Event>& out);

 private:
  using Blocks = std::map<uint64_t, uint64_t>;  // end by begin
  Blocks::iterator first_over(uint64_t begin);
  void begin_block(const Event& event, std::vector<Event>& out);
  void end_block(const Event& event, std::vector<Event>& out);

  Blocks live_;
};

}  // namespace pf
