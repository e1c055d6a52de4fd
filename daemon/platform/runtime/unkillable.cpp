// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/unkillable.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <mutex>

extern "C" {  // glibc 2.36 leaves it out of the header
#include <sys/pidfd.h>
}

#include "daemon/platform/runtime/child_process.hpp"

namespace weft::runtime {
namespace {

constexpr int kLookAgainMs = 10;

struct List {
  std::mutex mutex;
  std::vector<Unkillable> processes;
};

// One for the process, as its children are.
List& list() {
  static List all;
  return all;
}

// Never blocks: while a debugger holds a child that has ended, its pidfd is readable and it cannot be reaped
// (ptrace(2)).
std::optional<ChildExit> reap_now(pid_t pid) {
  int status = 0;
  pid_t done = 0;
  do done = ::waitpid(pid, &status, WNOHANG);
  while (done < 0 && errno == EINTR);
  if (done == 0) return std::nullopt;
  // Somebody else may have reaped it (SIGCHLD ignored): then nobody knows how it ended, only that it did.
  if (done != pid) return ChildExit{255, 0};
  if (WIFSIGNALED(status)) return ChildExit{0, WTERMSIG(status)};
  return ChildExit{WEXITSTATUS(status), 0};
}

}  // namespace

std::optional<ChildExit> wait_for_child(pid_t pid, int pidfd, Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd entry{pidfd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::clamp<long long>(left, 0, INT_MAX)));
    if (ready > 0) {
      if (const auto exit = reap_now(pid)) return exit;
      if (left > 0) ::poll(nullptr, 0, kLookAgainMs);
    }
    if (left <= 0) return std::nullopt;
  }
}

std::optional<ChildExit> kill_child(pid_t pid, UniqueFd pidfd, const std::string& program, bool group) {
  if (group)
    ::kill(-pid, SIGKILL);
  else
    ::pidfd_send_signal(pidfd.get(), SIGKILL, nullptr, 0);
  auto exit = wait_for_child(pid, pidfd.get(), kKillPatience);
  if (!exit) leave_behind(pid, program);
  return exit;
}

void leave_behind(pid_t pid, const std::string& program) {
  const std::lock_guard lock(list().mutex);
  list().processes.push_back({pid, program});
}

std::vector<Unkillable> unkillable() {
  const std::lock_guard lock(list().mutex);
  std::erase_if(list().processes, [](const Unkillable& process) { return reap_now(process.pid).has_value(); });
  return list().processes;
}

Result<void> may_start(const std::string& program) {
  const auto all = unkillable();
  const auto count = std::ranges::count(all, program, &Unkillable::program);
  if (count < static_cast<std::ptrdiff_t>(kMostUnkillable)) return {};
  return fail(ErrorCode::kResourceExhausted,
              "not started: " + std::to_string(count) + " processes of " + program + " were killed and do not end");
}

}  // namespace weft::runtime
