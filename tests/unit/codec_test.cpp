// Events and tables to bytes and back; bytes that are wrong are an error, never a crash (the fuzzer looks further).
#include "trace/codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/events.h"

namespace pf {
namespace {

constexpr uint32_t kThreads = 5, kSites = 300;

Dictionary some_names() {
  Dictionary names;
  for (uint32_t i = 0; i < kThreads; ++i) names.add_thread("T" + std::to_string(i));
  while (names.sites().size() < kSites) names.site(std::to_string(names.sites().size()));
  return names;
}

std::string encode(const std::vector<Event>& events) {
  BlockEncoder encoder;
  for (const Event& e : events) encoder.add(e);
  return encoder.take();
}

// In batches of `batch` events.
Result<std::vector<Event>> decode(std::string payload, std::size_t events, std::size_t batch, const Dictionary& names) {
  const std::size_t bytes = payload.size();
  payload.resize(bytes + format::kPadding);
  BlockDecoder decoder;
  const Status opened = decoder.open({payload.data(), bytes}, static_cast<uint32_t>(events), names);
  if (!opened) return opened.error();
  std::vector<Event> decoded, out(batch);
  while (decoder.left() != 0) {
    const Result<std::size_t> n = decoder.next(out);
    if (!n) return n.error();
    decoded.insert(decoded.end(), out.begin(), out.begin() + static_cast<ptrdiff_t>(*n));
  }
  return decoded;
}

RC_GTEST_PROP(Codec, keeps_every_field_of_every_event, ()) {
  const auto events = *rc::gen::container<std::vector<Event>>(any_event(kThreads, kSites));
  const auto batch = *rc::gen::inRange<std::size_t>(1, 200);
  const Result<std::vector<Event>> decoded = decode(encode(events), events.size(), batch, some_names());
  RC_ASSERT(decoded);
  RC_ASSERT(*decoded == events);
}

// Deltas are against the thread's last target: far jumps up and down, and the widest of all.
TEST(Codec, keeps_targets_that_jump) {
  std::vector<Event> events;
  for (const uint64_t target : {kLastAddress, uint64_t{0}, kLastAddress, uint64_t{1} << 63, (uint64_t{1} << 63) - 1,
                                uint64_t{1} << 48, uint64_t{255}, uint64_t{256}, uint64_t{0}}) {
    events.push_back({.target = target, .size = 8, .op = Op::Write});
    events.push_back({.target = target, .op = Op::Acquire});
  }
  const auto decoded = decode(encode(events), events.size(), 4096, some_names());
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, events);
}

TEST(Codec, starts_afresh_with_every_block) {
  BlockEncoder encoder;
  const Event e{.target = 1000, .size = 4, .thread = ThreadId{3}, .site = SiteId{7}, .op = Op::Read};
  encoder.add(e);
  const std::string first = encoder.take();
  EXPECT_EQ(encoder.events(), 0U);
  encoder.add(e);
  EXPECT_EQ(encoder.take(), first);
}

RC_GTEST_PROP(Codec, refuses_a_payload_that_is_cut_or_longer, ()) {
  const auto events = *rc::gen::nonEmpty(rc::gen::container<std::vector<Event>>(any_event(kThreads, kSites)));
  const std::string payload = encode(events);
  const auto size = *rc::gen::inRange<std::size_t>(0, payload.size());
  RC_ASSERT(!decode(payload.substr(0, size), events.size(), 4096, some_names()));
  RC_ASSERT(!decode(payload + "x", events.size(), 4096, some_names()));
  RC_ASSERT(!decode(payload, events.size() + 1, 4096, some_names()));
}

// The columns must be as long as the events say, each of them.
TEST(Codec, refuses_columns_of_other_lengths) {
  std::vector<Event> events(10);
  for (uint32_t i = 0; i < 10; ++i) {
    events[i] = {.target = uint64_t{300} * i, .size = 4, .thread = ThreadId{i % 3}, .site = SiteId{i * 20}};
  }
  const std::string payload = encode(events);
  for (const unsigned column : {format::Ops, format::Control, format::Targets, format::Sites}) {
    for (const int by : {1, -1}) {
      std::string wrong = payload;
      uint32_t lengths[format::kColumns];
      std::memcpy(lengths, wrong.data(), sizeof lengths);
      lengths[column] += static_cast<uint32_t>(by);
      lengths[column + 1] -= static_cast<uint32_t>(by);
      std::memcpy(wrong.data(), lengths, sizeof lengths);
      EXPECT_FALSE(decode(wrong, events.size(), 4096, some_names())) << "column " << column << " by " << by;
    }
  }
}

TEST(Codec, refuses_what_no_table_has) {
  const Dictionary names = some_names();
  const auto error_of = [&](const Event& e) {
    const auto decoded = decode(encode({e}), 1, 1, names);
    return decoded ? "" : decoded.error().message;
  };
  EXPECT_EQ(error_of({.size = 8, .thread = ThreadId{kThreads}}), "event of a thread that is not in the tables");
  EXPECT_EQ(error_of({.size = 8, .site = SiteId{kSites}}), "event at a site that is not in the tables");
  EXPECT_EQ(error_of({.target = kThreads, .op = Op::Fork}), "fork or join of a thread that is not in the tables");
  EXPECT_EQ(error_of({.target = kLastAddress + 1, .size = 8}), "address past the end of memory");
  EXPECT_EQ(error_of({.size = 0}), "event of a wrong size");
  EXPECT_EQ(error_of({.size = kMaxAccessSize + 1}), "event of a wrong size");
  EXPECT_EQ(error_of({.size = kMaxAccessSize}), "");
}

// --- tables ---

bool same(const Dictionary& a, const Dictionary& b) {
  for (unsigned kind = 0; kind < kObjectKinds; ++kind) {
    if (a.objects(static_cast<ObjectKind>(kind)) != b.objects(static_cast<ObjectKind>(kind))) return false;
  }
  return a.threads() == b.threads() && a.sites() == b.sites() && a.symbols() == b.symbols();
}

void add_anything(Dictionary& names) {
  const auto text = [] { return *rc::gen::arbitrary<std::string>(); };
  const auto name = [] { return *rc::gen::nonEmpty<std::string>(); };
  switch (*rc::gen::inRange(0, 4)) {
    case 0: names.add_thread(name()); return;
    case 1: names.add_object(static_cast<ObjectKind>(*rc::gen::inRange(0U, kObjectKinds)), name()); return;
    case 2: names.add_symbol({*rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>(), text()}); return;
    default:
      names.add_site({text(), text(), text(), text(), *rc::gen::arbitrary<uint32_t>(), *rc::gen::arbitrary<uint32_t>(),
                      *rc::gen::arbitrary<uint64_t>()});
  }
}

// As a writer does it: what is new, block after block.
RC_GTEST_PROP(Codec, keeps_tables_written_in_pieces, ()) {
  Dictionary names, read;
  TableCounts done;
  const int steps = *rc::gen::inRange(0, 20);
  for (int i = 0; i < steps; ++i) {
    add_anything(names);
    if (*rc::gen::arbitrary<bool>()) RC_ASSERT(decode_tables(encode_tables(names, done), read));
  }
  RC_ASSERT(decode_tables(encode_tables(names, done), read));
  RC_ASSERT(same(names, read));
  RC_ASSERT(encode_tables(names, done).empty());
}

TEST(Codec, splits_tables_that_exceed_a_block) {
  Dictionary names, read;
  TableCounts done;
  for (char c = 'a'; c < 'z'; ++c) names.add_thread(std::string(std::size_t{1} << 22, c));
  unsigned blocks = 0;
  for (std::string tables; !(tables = encode_tables(names, done)).empty(); ++blocks) {
    EXPECT_LE(tables.size(), format::kMaxBlockBytes);
    EXPECT_TRUE(decode_tables(tables, read));
  }
  EXPECT_GT(blocks, 1U);
  EXPECT_TRUE(same(names, read));
}

TEST(Codec, refuses_malformed_tables) {
  using namespace std::string_literals;
  Dictionary names;
  const auto good = [&](const std::string& payload) { return static_cast<bool>(decode_tables(payload, names)); };
  EXPECT_TRUE(good("\1\2ab"s));
  EXPECT_FALSE(good("\1\3ab"s)) << "a string longer than the block";
  EXPECT_FALSE(good("\1\0"s)) << "a thread without a name";
  EXPECT_FALSE(good("\1"s)) << "cut";
  EXPECT_FALSE(good("\0"s)) << "no such record";
  EXPECT_FALSE(good("\5\1a"s)) << "no such record";
  EXPECT_FALSE(good("\3\x06\1a"s)) << "no such kind of object";
  EXPECT_FALSE(good("\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1a"s)) << "a number longer than 64 bits";
  EXPECT_FALSE(good("\2\1a\0\0\0\x80\x80\x80\x80\x10\0\0"s)) << "a line longer than 32 bits";
}

}  // namespace
}  // namespace pf
