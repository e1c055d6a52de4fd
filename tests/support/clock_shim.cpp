// SPDX-License-Identifier: Apache-2.0
// For tests only: preloaded, it moves the clocks that a program sees by nanoseconds in the file WEFT_TEST_CLOCK, at
// once when they change: two numbers of 8 bytes of this machine. By the first the wall clock alone is ahead: a step of
// the machine's clock. By the second all clocks are: time that passed. What it leaves out: timers and waits of the
// kernel, time stamps of files and of other programs.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Offsets {
  std::atomic<std::int64_t> step, passed;
};

const Offsets* offsets() {
  static const auto* const mapped = []() -> const Offsets* {
    const char* const name = std::getenv("WEFT_TEST_CLOCK");
    const int file = name == nullptr ? -1 : ::open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return nullptr;
    void* const memory = ::mmap(nullptr, sizeof(Offsets), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    return memory == MAP_FAILED ? nullptr : static_cast<const Offsets*>(memory);
  }();
  return mapped;
}

int real_clock(clockid_t clock, timespec* time) {
  using Function = int (*)(clockid_t, timespec*);
  static const auto function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  return function(clock, time);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int outcome = real_clock(clock, time);
  const bool is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  const bool goes_on = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
  if (outcome != 0 || (!is_wall && !goes_on) || offsets() == nullptr) return outcome;
  const std::int64_t ahead = offsets()->passed.load(std::memory_order_relaxed) +
                             (is_wall ? offsets()->step.load(std::memory_order_relaxed) : 0);
  const std::int64_t moved = time->tv_sec * kSecond + time->tv_nsec + ahead;
  *time = {moved / kSecond, moved % kSecond};
  return 0;
}

int gettimeofday(timeval* time, void*) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* result) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}
}
