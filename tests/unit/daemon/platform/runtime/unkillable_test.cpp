// SPDX-License-Identifier: Apache-2.0
// A child that does not end when it is killed. A test cannot put one into uninterruptible sleep; but a child that a
// debugger holds cannot be reaped by us either, killed or not, until the debugger lets it go (ptrace(2)).

#include "daemon/platform/runtime/unkillable.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "daemon/platform/runtime/child_process.hpp"
#include "daemon/platform/runtime/command.hpp"

namespace weft::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Holds a process as a debugger does, until it is destroyed.
class Holder {
 public:
  explicit Holder(pid_t held) {
    int pipes[2];
    if (::pipe(pipes) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      const char good = ::ptrace(PTRACE_SEIZE, held, nullptr, nullptr) == 0 ? 'y' : 'n';
      [[maybe_unused]] const auto written = ::write(pipes[1], &good, 1);
      for (;;) ::pause();
    }
    char good = 'n';
    holds_ = ::read(pipes[0], &good, 1) == 1 && good == 'y';
    ::close(pipes[0]);
    ::close(pipes[1]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  bool holds() const { return holds_; }

 private:
  pid_t pid_ = -1;
  bool holds_ = false;
};

bool all_ended_within(Duration patience) {
  for (const auto end = std::chrono::steady_clock::now() + patience; std::chrono::steady_clock::now() < end;) {
    if (unkillable().empty()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

TEST(Unkillable, StopReturnsInTimeAndTheChildIsReapedLater) {
  auto child = ChildProcess::spawn({.program = "/bin/sleep", .arguments = {"1000"}});
  ASSERT_TRUE(child);
  const pid_t pid = child->pid();
  {
    const Holder holder(pid);
    if (!holder.holds()) GTEST_SKIP() << "no right to hold a process";
    const auto began = std::chrono::steady_clock::now();
    const auto exit = child->stop(50ms);
    EXPECT_LT(std::chrono::steady_clock::now() - began, kKillPatience + 5s);
    EXPECT_FALSE(exit);
    EXPECT_EQ(describe(exit), "was killed and does not end");
    ASSERT_EQ(unkillable().size(), 1U);
    EXPECT_EQ(unkillable()[0].pid, pid);
    EXPECT_EQ(unkillable()[0].program, "/bin/sleep");
    EXPECT_FALSE(child->poll_exit()) << "it is not this object's matter any more";
  }
  EXPECT_TRUE(all_ended_within(30s));
  EXPECT_EQ(::kill(pid, 0), -1) << "no zombie is left";
}

TEST(Unkillable, TheDestructorReturnsInTime) {
  std::optional<Holder> holder;
  {
    auto child = ChildProcess::spawn({.program = "/bin/sleep", .arguments = {"1000"}});
    ASSERT_TRUE(child);
    holder.emplace(child->pid());
    if (!holder->holds()) GTEST_SKIP() << "no right to hold a process";
  }
  EXPECT_EQ(unkillable().size(), 1U);
  holder.reset();
  EXPECT_TRUE(all_ended_within(30s));
}

TEST(Unkillable, ACommandThatDoesNotEndIsAnErrorInTime) {
  char name[] = "/tmp/weft-unkillable-XXXXXX";
  const int file = ::mkstemp(name);
  ASSERT_GE(file, 0);
  std::optional<Holder> holder;
  std::thread watcher([&] {
    pid_t pid = -1;
    while (pid <= 0) {
      std::this_thread::sleep_for(5ms);
      std::string text;
      std::getline(std::ifstream(name), text);
      if (!text.empty()) pid = std::stoi(text);
    }
    holder.emplace(pid);
  });
  CommandSpec spec{.program = "/bin/sh", .arguments = {"-c", std::string("echo $$ >") + name + "; exec sleep 1000"}};
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  spec.timeout = 2s;
  const auto began = std::chrono::steady_clock::now();
  const auto done = run_command(spec);
  EXPECT_LT(std::chrono::steady_clock::now() - began, spec.timeout + kKillPatience + 5s);
  watcher.join();
  ::close(file);
  ::unlink(name);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kTimeout);
  if (!holder->holds()) GTEST_SKIP() << "no right to hold a process";
  EXPECT_THAT(done.error().message, HasSubstr("was killed and does not end"));
  EXPECT_EQ(unkillable().size(), 1U);
  holder.reset();
  EXPECT_TRUE(all_ended_within(30s));
}

TEST(Unkillable, NoMoreOfAProgramIsStartedWhileTooManyDoNotEnd) {
  // What is not killed does not end either.
  std::vector<pid_t> pids;
  for (std::size_t i = 0; i < kMostUnkillable; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0)
      for (;;) ::pause();
    pids.push_back(pid);
    leave_behind(pid, "/bin/sleep");
  }
  const auto child = ChildProcess::spawn({.program = "/bin/sleep", .arguments = {"1000"}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(child.error().message, HasSubstr("16 processes of /bin/sleep"));
  EXPECT_EQ(run_command({.program = "/bin/sleep"}).error().code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(run_command({.program = "/bin/true"})) << "another program is not concerned";
  for (const pid_t pid : pids) ::kill(pid, SIGKILL);
  EXPECT_TRUE(all_ended_within(30s));
  EXPECT_TRUE(ChildProcess::spawn({.program = "/bin/sleep", .arguments = {"1000"}}));
}

}  // namespace
}  // namespace weft::runtime
