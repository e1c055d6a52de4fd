// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/command.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

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
