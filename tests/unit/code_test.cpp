// What binary/code.h finds in files that nobody here made: a breakpoint may stand on the first byte of an instruction only.
#include "binary/code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "support/temporary_folder.h"

namespace pf::binary {
namespace {

using watch::Site;

struct Closes {
  void operator()(std::FILE* f) const { pclose(f); }
};

// Every instruction as binutils' disassembler has it, by address. It tells code from data by the symbol table.
std::map<uint64_t, std::string> disassembled(const std::string& path) {
  std::map<uint64_t, std::string> lines;
  const std::unique_ptr<std::FILE, Closes> out(popen(("objdump -d --no-show-raw-insn " + path).c_str(), "r"));
  char* line = nullptr;
  std::size_t size = 0;
  while (out != nullptr && getline(&line, &size, out.get()) > 0) {
    unsigned long address = 0;
    int text = 0;
    if (std::sscanf(line, " %lx: %n", &address, &text) == 1 && text != 0) lines.emplace(address, line + text);
  }
  std::free(line);
  return lines;
}

class CodeOf : public testing::TestWithParam<const char*> {};

TEST_P(CodeOf, SitesAreInstructionsThatAccessMemory) {
  const Result<Code> code = read_code(GetParam());
  ASSERT_TRUE(code) << code.error().message;
  const std::map<uint64_t, std::string> lines = disassembled(GetParam());
  ASSERT_GT(lines.size(), 1000U);
  EXPECT_GT(code->sites.size(), 1000U);
  EXPECT_GT(code->functions, 50 * code->skipped);
  for (const Site& site : code->sites) {
    const auto line = lines.find(site.offset);
    ASSERT_NE(line, lines.end()) << fmt::format("{:#x} is within an instruction", site.offset);
    const auto next = std::next(line);
    if (next != lines.end()) {
      EXPECT_LE(site.offset + site.length, next->first) << line->second;
    }
    EXPECT_EQ(line->second.find("lea"), std::string::npos) << line->second;
    const bool locked = line->second.starts_with("lock") || line->second.starts_with("xchg");
    if (locked) {
      EXPECT_NE(site.flags & Site::kAtomic, 0) << line->second;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Libraries, CodeOf,
                         testing::Values("/lib/x86_64-linux-gnu/libz.so.1", "/lib/x86_64-linux-gnu/libc.so.6",
                                         "/lib/x86_64-linux-gnu/libstdc++.so.6"));

TEST(Code, IsOfElfFilesOnly) {
  EXPECT_FALSE(read_code("/etc/passwd"));
  EXPECT_FALSE(read_code("/nonexistent"));
}

// --- atomics of a program with debug information ---

std::string compiled(const TemporaryFolder& folder, const std::string& source) {
  const std::string base = folder.file("code");
  std::ofstream(base + ".cpp") << source;
  const std::string command = fmt::format("g++ -O2 -g -std=c++20 -shared -fPIC {0}.cpp -o {0}.so", base);
  return std::system(command.c_str()) == 0 ? base + ".so" : "";
}

unsigned atomic_sites(const Code& code) {
  return static_cast<unsigned>(std::count_if(code.sites.begin(), code.sites.end(),
                                             [](const Site& s) { return (s.flags & Site::kAtomic) != 0; }));
}

TEST(Code, KnowsInlinedAtomicsByDebugInformation) {
  const TemporaryFolder folder;
  const std::string path = compiled(folder, R"(
    #include <atomic>
    static std::atomic<int> a;
    static int plain;
    int read() { return plain; }
    int load() { return a.load(std::memory_order_acquire); }
    void store(int x) { a.store(x, std::memory_order_release); }
    void write(int x) { plain = x; })");
  ASSERT_FALSE(path.empty());
  const Result<Code> code = read_code(path);
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_EQ(atomic_sites(*code), 2U);
  const auto known = std::count_if(code->sites.begin(), code->sites.end(),
                                   [](const Site& s) { return (s.flags & Site::kKnown) != 0; });
  EXPECT_GE(known, 3);
}

TEST(Code, DescribesAnAccess) {
  const TemporaryFolder folder;
  const std::string path =
      compiled(folder, "int get(int* p, long i) { return p[i + 2]; }\nvoid put(char* p) { p[5] = 1; }");
  ASSERT_FALSE(path.empty());
  const Result<Code> code = read_code(path);
  ASSERT_TRUE(code) << code.error().message;
  const auto has = [&](auto&& is) { return std::ranges::any_of(code->sites, is); };
  EXPECT_TRUE(has([](const Site& s) {  // mov eax, [rdi + rsi * 4 + 8]
    return s.base == 7 && s.index == 6 && s.scale == 2 && s.displacement == 8 && s.size == 4 &&
           s.flags == (Site::kReads | Site::kKnown);
  }));
  EXPECT_TRUE(has([](const Site& s) {  // mov byte [rdi + 5], 1
    return s.base == 7 && s.index == Site::kNone && s.displacement == 5 && s.size == 1 &&
           s.flags == (Site::kWrites | Site::kKnown);
  }));
}

}  // namespace
}  // namespace pf::binary
