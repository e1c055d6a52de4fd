// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <string>

namespace weft::runtime {
namespace {

using namespace std::chrono_literals;

ChildSpec shell(std::string script) {
  return {.program = "/bin/sh", .arguments = {"-c", std::move(script)}};
}

std::string read_all(int fd) {
  std::string text;
  char buffer[256];
  for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

TEST(ChildProcess, TalksThroughItsSocketAndItsExitIsSeen) {
  auto child = ChildProcess::spawn(shell("read line <&3; echo \"got $line\" >&3; exit 7"));
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_FALSE(child->poll_exit());
  ASSERT_EQ(::write(child->socket(), "hello\n", 6), 6);
  EXPECT_EQ(read_all(child->socket()), "got hello\n");
  const auto exit = child->wait_exit(30s);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 7);
  EXPECT_FALSE(exit->success());
  EXPECT_EQ(describe(*exit), "exited with 7");
  EXPECT_EQ(child->poll_exit()->code, 7);
}

TEST(ChildProcess, GetsItsEnvironmentAndDirectory) {
  ::setenv("WEFT_TEST_INHERITED", "old", 1);
  ChildSpec spec = shell("echo \"$WEFT_TEST_ADDED $WEFT_TEST_INHERITED $(pwd)\" >&3");
  spec.environment = {{"WEFT_TEST_ADDED", "a b"}, {"WEFT_TEST_INHERITED", "new"}};
  spec.directory = "/";
  auto child = ChildProcess::spawn(spec);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(read_all(child->socket()), "a b new /\n");
  EXPECT_TRUE(child->wait_exit(30s)->success());
}

TEST(ChildProcess, HasNoOtherDescriptorOfOursAndDefaultSignals) {
  const UniqueFd source(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd leak(::fcntl(source.get(), F_DUPFD, 11));  // deliberately without close-on-exec
  ASSERT_GE(leak.get(), 11);
  struct sigaction before {};
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  auto child = ChildProcess::spawn(
      shell("for fd in 4 5 6 7 8 9 10 11 12 13 14 15; do [ -e /proc/$$/fd/$fd ] && echo $fd >&3; done; "
            "grep SigIgn /proc/$$/status >&3"));
  ::sigaction(SIGPIPE, &before, nullptr);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(read_all(child->socket()), "SigIgn:\t0000000000000000\n");
}

TEST(ChildProcess, AProgramThatCannotBeExecutedIsAnErrorAtOnce) {
  const auto missing = ChildProcess::spawn({.program = "/nowhere/weft-sweeper"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message, "cannot execute /nowhere/weft-sweeper: No such file or directory");
  const auto refused = ChildProcess::spawn({.program = "/etc"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
}

TEST(ChildProcess, ThePidfdBecomesReadableWhenItEnds) {
  auto child = ChildProcess::spawn(shell("exit 0"));
  ASSERT_TRUE(child);
  pollfd entry{child->pidfd(), POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 30000), 1);
  EXPECT_TRUE(child->poll_exit()->success());
}

TEST(ChildProcess, StopAsksFirst) {
  auto child = ChildProcess::spawn(shell("trap 'exit 5' TERM; echo ready >&3; while :; do sleep 0.05; done"));
  ASSERT_TRUE(child);
  char ready[6];
  ASSERT_EQ(::read(child->socket(), ready, sizeof ready), 6);
  const auto exit = child->stop(30s);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->signal, 0);
  EXPECT_EQ(exit->code, 5);
}

TEST(ChildProcess, StopKillsOneThatDoesNotListen) {
  auto child = ChildProcess::spawn(shell("trap '' TERM; echo ready >&3; while :; do sleep 0.05; done"));
  ASSERT_TRUE(child);
  char ready[6];
  ASSERT_EQ(::read(child->socket(), ready, sizeof ready), 6);
  const auto exit = child->stop(100ms);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->signal, SIGKILL);
  EXPECT_EQ(describe(exit), "killed by signal 9 (Killed)");
}

TEST(ChildProcess, TheDestructorLeavesNobodyBehind) {
  pid_t pid = -1;
  {
    auto child = ChildProcess::spawn({.program = "/bin/sleep", .arguments = {"1000"}});
    ASSERT_TRUE(child);
    pid = child->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(ChildProcess, DiesWithItsParent) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that the grandchild becomes ours to wait for
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto child = ChildProcess::spawn({.program = "/bin/sleep", .arguments = {"1000"}});
    const pid_t pid = child ? child->pid() : -1;
    [[maybe_unused]] const auto written = ::write(pipes[1], &pid, sizeof pid);
    ::pause();
    ::_exit(0);
  }
  pid_t grandchild = -1;
  ASSERT_EQ(::read(pipes[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  ASSERT_GT(grandchild, 0);
  ::kill(parent, SIGKILL);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  int status = 0;
  ASSERT_EQ(::waitpid(grandchild, &status, 0), grandchild);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ::close(pipes[0]);
  ::close(pipes[1]);
}

}  // namespace
}  // namespace weft::runtime
