// Names: what is left of a demangled function, frames nobody wants to see, and addresses of this very program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "report/modules.h"
#include "report/session.h"

namespace pf::report {
namespace {

TEST(FunctionName, has_no_parameters) {
  EXPECT_EQ(without_parameters("main"), "main");
  EXPECT_EQ(without_parameters("deposit(int)"), "deposit");
  EXPECT_EQ(without_parameters("Bank::total() const"), "Bank::total");
  EXPECT_EQ(without_parameters("f(void (*)(int), int) [clone .cold]"), "f");
  EXPECT_EQ(without_parameters("void std::sort<int*>(int*, int*)"), "std::sort<int*>");
  EXPECT_EQ(without_parameters("std::vector<int, A<int> >::push_back(int&&)"), "std::vector<int, A<int> >::push_back");
  EXPECT_EQ(without_parameters("std::pair<int, int> make<int, int>(int, int)"), "make<int, int>");
  EXPECT_EQ(without_parameters("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(without_parameters("run(int)::$_0::operator()() const"), "run(int)::$_0::operator()");
  EXPECT_EQ(without_parameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(without_parameters("self[abi:cxx11]()"), "self");
  EXPECT_EQ(without_parameters("A::operator[](int)"), "A::operator[]");
  EXPECT_EQ(without_parameters("A::operator bool() const"), "A::operator bool");
  EXPECT_EQ(without_parameters("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(without_parameters("non-virtual thunk to B::f()"), "non-virtual thunk to B::f");
  EXPECT_EQ(without_parameters(""), "");
  EXPECT_EQ(without_parameters(")("), ")(");
}

TEST(Demangle, leaves_what_is_not_mangled) {
  EXPECT_EQ(demangle("_ZN4bank7depositEi"), "bank::deposit(int)");
  EXPECT_EQ(demangle("i"), "i");  // a type, if one asks the library
  EXPECT_EQ(demangle("_Zoops"), "_Zoops");
}

std::vector<Frame> stack_of(std::initializer_list<const char*> functions) {
  std::vector<Frame> stack;
  for (const char* f : functions) stack.push_back({.location = {}, .function = f, .file = {}, .module = "bank"});
  return stack;
}

std::string names(const std::vector<Frame>& stack) {
  std::string text;
  for (const Frame& f : stack) text += f.function + " ";
  return text;
}

TEST(Plumbing, is_dropped) {
  auto stack = stack_of({"__tsan_memcpy", "deposit", "main", "__libc_start_call_main", "_start"});
  drop_plumbing(stack);
  EXPECT_EQ(names(stack), "deposit main ");
  stack = stack_of({"worker", "start_thread", "clone3"});
  drop_plumbing(stack);
  EXPECT_EQ(names(stack), "worker ");
  stack = stack_of({"deposit", "deposit"});
  stack[0].module = "libphotofinish.so";
  drop_plumbing(stack);
  EXPECT_EQ(stack.size(), 1U);
}

TEST(Plumbing, stays_if_there_is_nothing_else) {
  auto stack = stack_of({"start_thread", "clone3"});
  drop_plumbing(stack);
  EXPECT_EQ(names(stack), "start_thread clone3 ");
}

int some_global[3];

std::string self() { return std::filesystem::read_symlink("/proc/self/exe"); }

// As the runtime tells them.
void map_self(AddressSpace& space) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[4096], path[4096];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long start = 0, end = 0, offset = 0;
    const int fields = std::sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095[^\n]", &start, &end, &offset, path);
    if (fields == 4 && path[0] == '/') space.map({start, end, offset, path});
  }
  std::fclose(maps);
}

TEST(Symbolizer, knows_functions_and_zeroed_globals_of_this_program) {
  Symbolizer symbolizer([](const std::string& text) { FAIL() << text; });
  AddressSpace space(symbolizer);
  map_self(space);
  const auto function = space.find(reinterpret_cast<uintptr_t>(&self));
  ASSERT_TRUE(function);
  EXPECT_EQ(function->path, self());
  EXPECT_EQ(symbolizer.frames(function->path, function->address).back().function,
            "pf::report::(anonymous namespace)::self");
  const auto data = space.find(reinterpret_cast<uintptr_t>(&some_global[2]));
  ASSERT_TRUE(data);
  const auto symbol = symbolizer.global(data->path, data->address);
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->name, "pf::report::(anonymous namespace)::some_global");
  EXPECT_GE(symbol->size, sizeof some_global);  // AddressSanitizer makes it larger
  EXPECT_EQ(data->address - symbol->address, 2 * sizeof(int));
  EXPECT_FALSE(space.find(16));
}

TEST(Symbolizer, warns_once_of_a_file_that_is_not_there) {
  std::vector<std::string> warnings;
  Symbolizer symbolizer([&](const std::string& text) { warnings.push_back(text); });
  const Frame& f = symbolizer.frames("/none/bank", 0x11d3).front();
  EXPECT_EQ(f.text(), "bank+0x11d3");
  EXPECT_FALSE(symbolizer.global("/none/bank", 1));
  symbolizer.frames("/etc/passwd", 1);
  EXPECT_EQ(warnings, (std::vector<std::string>{"no names for /none/bank: No such file or directory",
                                                "no names for /etc/passwd: not an ELF file"}));
}

TEST(AddressSpace, takes_the_latest_mapping) {
  Symbolizer symbolizer([](const std::string&) {});
  AddressSpace space(symbolizer);
  space.map({100, 200, 0, "/none/a"});
  space.map({200, 300, 100, "/none/a"});
  space.map({150, 250, 0, "/none/b"});
  EXPECT_EQ(space.find(160)->path, "/none/b");
  EXPECT_EQ(space.find(160)->address, 10U);
  EXPECT_FALSE(space.find(120));
  EXPECT_FALSE(space.find(400));
  space.map({300, 300, 0, "/none/empty"});
  EXPECT_FALSE(space.find(300));
}

}  // namespace
}  // namespace pf::report
