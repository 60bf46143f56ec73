// The compiler wrappers: what becomes of a command line.
#include "cli/wrapper.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/temporary_folder.h"

namespace pf::cli {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string joined(const Result<std::vector<std::string>>& command) {
  return command ? fmt::format("{}", fmt::join(*command, " ")) : "error: " + command.error().message;
}

constexpr const char* kLink = " -fno-sanitize-link-runtime -Wl,--push-state,--no-as-needed /rt/libphotofinish.so "
                              "-Wl,--pop-state -Wl,-rpath,/rt -Wl,--enable-new-dtags /calls.o";

RuntimeFiles files() { return {"/rt", "/calls.h", "/calls.o"}; }

std::string clang(const std::string& arguments) {
  return joined(wrapped_command({CompilerKind::Clang, {"clang"}}, split(arguments), files()));
}

std::string gcc(const std::string& arguments) {
  std::string text = joined(wrapped_command({CompilerKind::Gcc, {"gcc"}}, split(arguments), files()));
  while (text.find(" -fno-builtin-") != text.npos) {
    const std::size_t at = text.find(" -fno-builtin-");
    text.erase(at, text.find(' ', at + 1) - at);
  }
  return text;
}

TEST(Wrapper, instruments_what_it_compiles) {
  EXPECT_EQ(clang("-c a.c -o a.o"), "clang -fsanitize=thread -c a.c -o a.o");
  EXPECT_EQ(clang("-MM a.c"), "clang -fsanitize=thread -MM a.c");
  EXPECT_EQ(clang("a.h"), "clang -fsanitize=thread a.h");
  EXPECT_EQ(gcc("-c a.c"), "gcc -fsanitize=thread -include /calls.h -c a.c -U_FORTIFY_SOURCE");
}

TEST(Wrapper, links_the_runtime_into_programs) {
  EXPECT_EQ(clang("a.o -lm"), std::string("clang -fsanitize=thread") + kLink + " a.o -lm");
  EXPECT_EQ(clang("-o -c a.c"), std::string("clang -fsanitize=thread") + kLink + " -o -c a.c");  // a file named -c
  EXPECT_EQ(gcc("a.o"),
            "gcc -fsanitize=thread -include /calls.h -L/rt -Wl,-rpath,/rt -Wl,--enable-new-dtags /calls.o a.o "
            "-U_FORTIFY_SOURCE");
}

TEST(Wrapper, looks_into_response_files) {
  const TemporaryFolder folder;
  const std::string file = folder.file("arguments");
  std::ofstream(file) << "-c\na.c\n";
  EXPECT_EQ(clang("@" + file), "clang -fsanitize=thread @" + file);
}

TEST(Wrapper, lets_questions_through) {
  EXPECT_EQ(clang("--version"), "clang --version");
  EXPECT_EQ(clang("-print-search-dirs"), "clang -print-search-dirs");
  EXPECT_EQ(clang("-v"), "clang -v");
  EXPECT_EQ(clang(""), "clang");
}

TEST(Wrapper, leaves_shared_objects_without_the_runtime) {
  EXPECT_EQ(clang("-shared a.o"), "clang -fsanitize=thread -fno-sanitize-link-runtime /calls.o -shared a.o");
  EXPECT_EQ(
      clang("-shared a.o -Wl,-z,defs -Wl,-soname,x,--no-undefined -z defs -Xlinker -z -Xlinker defs -z now"),
      "clang -fsanitize=thread -fno-sanitize-link-runtime /calls.o -shared a.o -Xlinker -soname -Xlinker x -Xlinker -z "
      "-Xlinker now");
}

TEST(Wrapper, drops_the_other_runtime) { EXPECT_EQ(clang("-c -static-libtsan a.c"), "clang -fsanitize=thread -c a.c"); }

TEST(Wrapper, takes_its_own_options) {
  EXPECT_EQ(clang("--instrument=tsan --runtime=shared -c a.c"), "clang -fsanitize=thread -c a.c");
  EXPECT_EQ(clang("--instrument=checks -c a.c"), "error: --instrument=checks: not there yet, tsan is");
  EXPECT_EQ(clang("--instrument=x -c a.c"), "error: --instrument=x: unknown, tsan is known");
  EXPECT_EQ(clang("--runtime=x a.c"), "error: --runtime=x: shared or static");
}

TEST(Wrapper, refuses_a_static_program_without_a_static_runtime) {
  EXPECT_EQ(clang("-static a.c"),
            "error: a static program needs a static runtime, and there is no /rt/libphotofinish.a");
  EXPECT_EQ(clang("--runtime=static a.c"),
            "error: a static program needs a static runtime, and there is no /rt/libphotofinish.a");
  EXPECT_EQ(clang("-static -c a.c"), "clang -fsanitize=thread -static -c a.c");
}

TEST(Wrapper, links_a_static_runtime_whole) {
  const TemporaryFolder folder;
  const std::string runtime = folder.file("libphotofinish.a");
  std::ofstream(runtime) << "!<arch>\n";
  EXPECT_EQ(
      joined(wrapped_command({CompilerKind::Clang, {"clang"}}, {"-static", "a.o"}, {folder.path(), {}, "/calls.o"})),
      "clang -fsanitize=thread -fno-sanitize-link-runtime -Wl,--whole-archive " + runtime +
          " -Wl,--no-whole-archive -static a.o");
}

TEST(Wrapper, is_known_by_its_name) {
  EXPECT_EQ(wrapper_name("/usr/bin/pf-c++"), "c++");
  EXPECT_EQ(wrapper_name("pf-cc"), "cc");
  EXPECT_FALSE(wrapper_name("photofinish"));
}

}  // namespace
}  // namespace pf::cli
