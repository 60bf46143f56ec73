// Events blocks and tables blocks, to bytes and back. No files here: see writer.h and reader.h.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "trace/dictionary.h"
#include "trace/format.h"

namespace pf {

class BlockEncoder {
 public:
  void add(const Event& e);
  uint32_t events() const { return static_cast<uint32_t>(columns_[format::Ops].size()); }
  // The payload of the events added since the last call.
  std::string take();

 private:
  struct Last {
    uint64_t memory = 0, object = 0;
    uint32_t site = 0;
  };
  void put_extras(const Event& e, uint8_t op);

  std::string columns_[format::kColumns];
  std::vector<Last> last_;  // by thread
  uint32_t thread_ = ~0U;
};

class BlockDecoder {
 public:
  // Takes a payload followed by kPadding readable bytes; it must stay there while next() is called.
  Status open(std::string_view payload, uint32_t events, const Dictionary& names);
  uint32_t left() const { return left_; }
  // Decodes up to out.size() of the events that are left.
  Result<std::size_t> next(std::span<Event> out);

 private:
  struct Last {
    uint64_t target[2] = {0, 0};  // of objects, of memory
    uint32_t site = 0;
    ThreadId thread{};
  };
  Last* next_thread();
  Status get_extras(Event& e, uint8_t op);

  const uint8_t* at_[format::kColumns] = {};
  const uint8_t* end_[format::kColumns] = {};
  std::vector<Last> last_;
  uint32_t left_ = 0, thread_ = 0, sites_ = 0;
};

// The entries of the dictionary from the given counts on, as many as a block may have; the counts are moved past them.
// Nothing at the end.
struct TableCounts {
  std::size_t threads = 0, sites = 1, objects[kObjectKinds] = {}, symbols = 0;
};
std::string encode_tables(const Dictionary& names, TableCounts& done);
Status decode_tables(std::string_view payload, Dictionary& names);

}  // namespace pf
