// SPDX-License-Identifier: Apache-2.0
// For benchmarks only: preloaded behind libumad2sim.so it stands between a program and ibsim.
//
//   WEFT_BENCH_DELAY_US=200      the simulator is that many microseconds away, in each direction
//   WEFT_BENCH_METER=FILE        appends a line "count seconds" for each burst of performance requests: sent without a
//   pause
//                                of 100 ms; the last burst is written when the next one begins
//
// The distance: a datagram that libumad2sim writes waits for both ways, there and back, before ibsim gets it; the
// answer then comes at once. To the program that is the same as half of it before and half of it behind, and it costs
// less time of the CPUs, which would be taken from the programs that are measured.

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <thread>

namespace {

constexpr std::size_t kDatagram = 288;        // libumad2sim's struct sim_request
constexpr std::size_t kClassOffset = 33;      // MgmtClass in it
constexpr std::int64_t kPause = 100'000'000;  // nanoseconds
constexpr std::size_t kBatch = 64;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// The way there and back of one data socket.
class Line {
 public:
  explicit Line(std::int64_t delay) : delay_(delay) {
    std::thread([this] { carry(); }).detach();
  }

  void put(int socket_number, const void* data) {
    Datagram datagram{now() + delay_, socket_number, {}};
    std::memcpy(datagram.bytes.data(), data, kDatagram);
    const std::lock_guard lock(mutex_);
    queue_.push_back(datagram);
    if (queue_.size() == 1) arrived_.notify_one();
  }

 private:
  struct Datagram {
    std::int64_t due;
    int socket_number;
    std::array<char, kDatagram> bytes;
  };

  [[noreturn]] void carry() {
    prctl(PR_SET_TIMERSLACK, 1);
    for (;;) {
      std::int64_t due = 0;
      {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return !queue_.empty(); });
        due = queue_.front().due;
      }
      const timespec until{due / 1'000'000'000, due % 1'000'000'000};
      while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
      }
      while (send_due()) {
      }
    }
  }

  /// Sends up to kBatch whose time has come; false when no more has.
  bool send_due() {
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      const std::int64_t time = now();
      while (count < kBatch && !queue_.empty() && queue_.front().due <= time) {
        batch_[count++] = queue_.front();
        queue_.pop_front();
      }
    }
    std::array<iovec, kBatch> parts{};
    std::array<mmsghdr, kBatch> messages{};
    for (std::size_t i = 0; i < count; ++i) {
      parts[i] = {batch_[i].bytes.data(), kDatagram};
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (std::size_t sent = 0; sent < count;) {
      const int done =
          sendmmsg(batch_[sent].socket_number, &messages[sent], static_cast<unsigned>(count - sent), MSG_NOSIGNAL);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) break;  // ibsim is gone
      sent += static_cast<std::size_t>(done);
    }
    return count == kBatch;
  }

  std::int64_t delay_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Datagram> queue_;
  std::array<Datagram, kBatch> batch_{};
};

/// Null when no distance is asked for. Never destroyed: its thread ends with the process.
Line* line() {
  static Line* const made = [] {
    const char* delay = std::getenv("WEFT_BENCH_DELAY_US");
    return delay == nullptr ? nullptr : new Line(2 * 1000 * std::strtol(delay, nullptr, 10));
  }();
  return made;
}

class Meter {
 public:
  Meter() : path_(std::getenv("WEFT_BENCH_METER")) {}

  void count(const void* data) {
    if (path_ == nullptr || static_cast<const std::uint8_t*>(data)[kClassOffset] != 4) return;
    const std::int64_t time = now();
    if (count_ > 0 && time - last_ > kPause) {
      if (FILE* file = std::fopen(path_, "a")) {
        std::fprintf(file, "%llu %.6f\n", count_, static_cast<double>(last_ - first_) * 1e-9);
        std::fclose(file);
      }
      count_ = 0;
    }
    if (count_++ == 0) first_ = time;
    last_ = time;
  }

 private:
  const char* path_;
  unsigned long long count_ = 0;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
};

bool is_datagram_socket(int number) {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM;
}

}  // namespace

// libumad2sim sends from one thread at a time: OpenSM's and ours hold a lock or are alone.
extern "C" ssize_t write(int number, const void* data, std::size_t size) {
  using Write = ssize_t (*)(int, const void*, std::size_t);
  static const auto next = reinterpret_cast<Write>(dlsym(RTLD_NEXT, "write"));
  static Meter meter;
  if (size != kDatagram) return next(number, data, size);
  meter.count(data);
  static int data_socket = -1;
  if (line() == nullptr || (number != data_socket && !is_datagram_socket(number))) return next(number, data, size);
  data_socket = number;
  line()->put(number, data);
  return static_cast<ssize_t>(size);
}
