// A file that is being written has its name only once it is complete.
#include "trace/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/temporary_folder.h"

namespace pf {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  static std::string contents(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("file"), partial_ = folder_.file("file.partial");
};

TEST_F(OutputFileTest, appears_when_it_is_complete) {
  Result<OutputFile> created = OutputFile::create(path_);
  ASSERT_TRUE(created);
  OutputFile file = std::move(*created);
  EXPECT_TRUE(file.write("hello "));
  EXPECT_TRUE(file.write("world"));
  EXPECT_EQ(file.offset(), 11U);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_TRUE(fs::exists(partial_));
  EXPECT_TRUE(file.commit());
  EXPECT_EQ(contents(path_), "hello world");
  EXPECT_FALSE(fs::exists(partial_));
}

TEST_F(OutputFileTest, leaves_what_was_there_if_it_is_not_finished) {
  std::ofstream(path_) << "old";
  {
    Result<OutputFile> file = OutputFile::create(path_);
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->write("new"));
  }
  EXPECT_EQ(contents(path_), "old");
  EXPECT_FALSE(fs::exists(partial_));
}

TEST_F(OutputFileTest, replaces_what_was_there_once_it_is_finished) {
  std::ofstream(path_) << "old and longer";
  Result<OutputFile> file = OutputFile::create(path_);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->write("new"));
  EXPECT_TRUE(file->commit());
  EXPECT_EQ(contents(path_), "new");
}

TEST_F(OutputFileTest, is_removed_by_a_signal_handler) {
  Result<OutputFile> file = OutputFile::create(path_);
  ASSERT_TRUE(file);
  remove_partial_output();
  EXPECT_FALSE(fs::exists(partial_));
  EXPECT_FALSE(file->commit()) << "it is gone";
  remove_partial_output();  // nothing to do
}

// A pipe in its place holds the open() up, as a busy machine does now and then.
TEST_F(OutputFileTest, is_removed_by_a_signal_that_comes_while_it_is_opened) {
  const std::string other_end = folder_.file("pipe");
  ASSERT_EQ(mkfifo(partial_.c_str(), 0600), 0);
  fs::create_hard_link(partial_, other_end);
  std::jthread creates([this] { EXPECT_TRUE(OutputFile::create(path_)); });
  for (int i = 0; i < 1000 && fs::exists(partial_); i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    remove_partial_output();
  }
  EXPECT_FALSE(fs::exists(partial_));
  close(open(other_end.c_str(), O_RDONLY | O_CLOEXEC));
}

TEST_F(OutputFileTest, says_where_a_full_disk_stopped_it) {
  Result<OutputFile> file = OutputFile::create("/dev/full");
  ASSERT_TRUE(file);
  const Status written = file->write("x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "cannot write /dev/full at offset 0: No space left on device");
}

TEST_F(OutputFileTest, says_why_it_cannot_be) {
  const Result<OutputFile> nowhere = OutputFile::create(folder_.file("none/file"));
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message, "cannot write " + folder_.file("none/file") + ": No such file or directory");
  const Result<OutputFile> folder = OutputFile::create(folder_.path());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "cannot write " + folder_.path() + ": Is a directory");
}

}  // namespace
}  // namespace pf
