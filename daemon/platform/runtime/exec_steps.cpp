// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/exec_steps.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>

namespace weft::runtime {

void default_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool close_others(int first, int report) {
  const auto below = static_cast<unsigned>(report);
  return (report <= first || ::close_range(static_cast<unsigned>(first), below - 1, 0) == 0) &&
         ::close_range(below + 1, UINT_MAX, 0) == 0;
}

void give_up_becoming(int report) {
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(report, &error, sizeof error);
  ::_exit(127);
}

std::optional<int> exec_outcome(int outcome, Duration patience) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience).count();
  pollfd entry{outcome, POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&entry, 1, static_cast<int>(std::clamp<long long>(left, 0, INT_MAX)));
  while (ready < 0 && errno == EINTR);
  if (ready <= 0) return std::nullopt;
  int error = 0;
  ssize_t got = 0;
  do got = ::read(outcome, &error, sizeof error);
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace weft::runtime
