// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/command.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace weft::runtime {
namespace {

using namespace std::chrono_literals;

CommandSpec shell_command(std::string script) {
  return {.program = "/bin/sh", .arguments = {"-c", std::move(script)}};
}

TEST(Command, GivesOutputErrorsAndExitEachForItself) {
  const auto done = run_command(shell_command("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->errors, "err\n");
  EXPECT_EQ(done->exit.code, 3);
}

TEST(Command, HandsOnOnlyTheEnvironmentThatIsNamedAndNoInput) {
  ::setenv("WEFT_SECRET_OF_TEST", "1", 1);
  CommandSpec spec = shell_command("cat; echo \"$A-$WEFT_SECRET_OF_TEST-\"; ls /proc/self/fd | wc -l");
  spec.environment = {{"A", "b c"}, {"PATH", "/usr/bin:/bin"}};
  const auto done = run_command(spec);
  ASSERT_TRUE(done);
  // Three streams, and the folder that ls reads.
  EXPECT_EQ(done->output, "b c--\n4\n");
}

TEST(Command, PassesArgumentsAsTheyAre) {
  const auto done = run_command({.program = "/usr/bin/printf", .arguments = {"%s|", "a b", "$HOME", "\"x';`id`"}});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, "a b|$HOME|\"x';`id`|");
}

TEST(Command, ThatHangsIsKilledWithWhatItStarted) {
  CommandSpec spec = shell_command("sleep 100 & echo started; sleep 100");
  spec.timeout = 200ms;
  const auto began = std::chrono::steady_clock::now();
  const auto done = run_command(spec);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
}

// A lease on the program's file holds up execve(2) as a file system that hangs does (fcntl(2), F_SETLEASE): until the
// lease is given up, which nobody does here, or /proc/sys/fs/lease-break-time has passed (45 s).
struct LeasedProgram : ::testing::Test {
  void SetUp() override {
    std::ofstream(place) << "#!/bin/sh\n";
    std::filesystem::permissions(place, std::filesystem::perms::owner_all);
    ::signal(SIGIO, SIG_IGN);  // the kernel asks for the lease with it
    leased = ::open(place.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(leased, 0);
    if (::fcntl(leased, F_SETLEASE, F_WRLCK) < 0) GTEST_SKIP() << "no leases on this file system";
  }
  void TearDown() override {
    ::close(leased);
    std::filesystem::remove(place);
  }
  std::filesystem::path place = std::filesystem::temp_directory_path() / ("weft-leased-" + std::to_string(::getpid()));
  int leased = -1;
};

TEST_F(LeasedProgram, HoldsUpNobodyLongerThanItsTime) {
  const auto began = std::chrono::steady_clock::now();
  const auto done = run_command({.program = place, .arguments = {}, .timeout = 300ms});
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kTimeout);
  EXPECT_NE(done.error().message.find("did not begin within"), std::string::npos) << done.error().message;
}

// Two lanes start programs at one moment: the child of one has copies of the pipes of the other.
TEST_F(LeasedProgram, HoldsNoPipesOfOthersOpen) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  std::thread hangs([this] { (void)run_command({.program = place, .arguments = {}, .timeout = 3s}); });
  std::this_thread::sleep_for(500ms);
  ::close(pipe[1]);
  pollfd end{pipe[0], POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 1000), 1) << "its end is not seen";
  ::close(pipe[0]);
  hangs.join();
}

TEST(Command, ThatClosesItsStreamsAndHangsIsKilledToo) {
  CommandSpec spec = shell_command("exec >/dev/null 2>&1; sleep 100");
  spec.timeout = 200ms;
  const auto done = run_command(spec);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kTimeout);
}

TEST(Command, ThatSaysTooMuchIsKilled) {
  CommandSpec spec = shell_command("while :; do echo 0123456789; done");
  spec.most_output = 100'000;
  const auto done = run_command(spec);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kResourceExhausted);
}

TEST(Command, OfManyErrorsTheBeginningIsKept) {
  const auto done =
      run_command(shell_command("i=0; while [ $i -lt 20000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo end"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->errors.size(), 65536U);
  EXPECT_EQ(done->output, "end\n");
}

TEST(Command, ThatCannotBeExecutedSaysSo) {
  EXPECT_EQ(run_command({.program = "/nonexistent"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(run_command({.program = "/etc/passwd"}).error().code, ErrorCode::kUnavailable);
  const auto killed = run_command(shell_command("kill -9 $$"));
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->exit.signal, 9);
}

TEST(Command, ProgramsAreFoundAsTheShellFindsThem) {
  EXPECT_EQ(find_program("sh", "")->filename(), "sh");
  EXPECT_EQ(*find_program("/bin/sh", ""), "/bin/sh");
  EXPECT_EQ(find_program("weft-no-such-program", "/usr/bin").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(find_program("/nonexistent/sh", "/bin").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(find_program("etc", "/"));  // a folder
}

}  // namespace
}  // namespace weft::runtime
