// For benchmarks only: preloaded behind libumad2sim.so it stands between a program and ibsim.
//
//   WEFT_BENCH_DELAY_US=200      every datagram takes that many microseconds longer, in each direction
//   WEFT_BENCH_METER=FILE        appends a line "count seconds" for each burst of performance requests: sent without a
//   pause
//                                of 100 ms; the last burst is written when the next one begins
//
// The delay: libumad2sim connects one socket for data ("<name>:out<n>"). That number is given to one end of a socket
// pair, and one thread carries datagrams between the other end and ibsim, each when its time has come.

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <string_view>
#include <thread>
#include <utility>

namespace {

constexpr std::size_t kLongest = 512;  // libumad2sim's datagrams have 288 octets
constexpr std::size_t kSimulatorRequest = 288;
constexpr std::size_t kClassOffset = 33;      // MgmtClass in them
constexpr std::int64_t kPause = 100'000'000;  // nanoseconds
constexpr std::size_t kMostQueued = 1 << 16;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

struct Datagram {
  std::int64_t due = 0;
  std::size_t size = 0;
  std::array<char, kLongest> octets{};
};

/// One direction of the line.
class Direction {
 public:
  Direction(int from, int to, std::int64_t delay) : from_(from), to_(to), delay_(delay) {}

  int from() const { return from_; }
  bool take_in() {
    while (queue_.size() < kMostQueued) {
      Datagram datagram;
      // recv and send: libumad2sim puts its own read and write before the kernel's.
      const ssize_t size = recv(from_, datagram.octets.data(), datagram.octets.size(), MSG_DONTWAIT);
      if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (size < 0) return true;
      datagram.size = static_cast<std::size_t>(size);
      datagram.due = now() + delay_;
      queue_.push_back(datagram);
    }
    return true;
  }
  bool pass_on() {
    for (std::int64_t time = now(); !queue_.empty() && queue_.front().due <= time; queue_.pop_front()) {
      const Datagram& datagram = queue_.front();
      if (send(to_, datagram.octets.data(), datagram.size, MSG_NOSIGNAL) < 0 && errno != EINTR) return false;
    }
    return true;
  }
  /// When the next one is due; 0 when there is none.
  std::int64_t next() const { return queue_.empty() ? 0 : queue_.front().due; }

 private:
  int from_;
  int to_;
  std::int64_t delay_;
  std::deque<Datagram> queue_;
};

void carry(int program, int simulator, std::int64_t delay) {
  prctl(PR_SET_TIMERSLACK, 1);
  Direction out(program, simulator, delay);
  Direction in(simulator, program, delay);
  for (;;) {
    std::int64_t next = out.next();
    if (next == 0 || (in.next() != 0 && in.next() < next)) next = in.next();
    timespec wait{};
    if (next != 0) {
      const std::int64_t left = next - now();
      wait.tv_nsec = left > 0 ? left : 0;
    }
    std::array<pollfd, 2> sources{{{out.from(), POLLIN, 0}, {in.from(), POLLIN, 0}}};
    if (ppoll(sources.data(), sources.size(), next == 0 ? nullptr : &wait, nullptr) < 0 && errno != EINTR) break;
    if (!out.take_in() || !in.take_in() || !out.pass_on() || !in.pass_on()) break;
  }
  close(program);
  close(simulator);
}

bool is_data_socket(const sockaddr* address, socklen_t length) {
  if (address->sa_family != AF_UNIX || length <= offsetof(sockaddr_un, sun_path) + 1) return false;
  const auto* name = reinterpret_cast<const sockaddr_un*>(address)->sun_path;
  const std::string_view text(name + 1, length - offsetof(sockaddr_un, sun_path) - 1);
  return name[0] == '\0' && text.find(":out") != std::string_view::npos;
}

bool insert_delay(int socket_number, std::int64_t delay) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return false;
  for (const int end : pair) {
    const int size = 4 * 1024 * 1024;
    setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  }
  const int simulator = fcntl(socket_number, F_DUPFD_CLOEXEC, 100);
  if (simulator < 0 || dup2(pair[0], socket_number) < 0) return false;
  close(pair[0]);
  std::thread(carry, pair[1], simulator, delay).detach();
  return true;
}

class Meter {
 public:
  Meter() : path_(std::getenv("WEFT_BENCH_METER")) {}

  void count(const void* data, std::size_t size) {
    if (path_ == nullptr || size != kSimulatorRequest || static_cast<const std::uint8_t*>(data)[kClassOffset] != 4)
      return;
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

}  // namespace

extern "C" int connect(int socket_number, const sockaddr* address, socklen_t length) {
  using Connect = int (*)(int, const sockaddr*, socklen_t);
  static const auto next = reinterpret_cast<Connect>(dlsym(RTLD_NEXT, "connect"));
  const int result = next(socket_number, address, length);
  const char* delay = std::getenv("WEFT_BENCH_DELAY_US");
  if (result != 0 || delay == nullptr || !is_data_socket(address, length)) return result;
  if (!insert_delay(socket_number, std::strtol(delay, nullptr, 10) * 1000)) {
    std::perror("mad_shim: no delay line");
    std::abort();
  }
  return 0;
}

// libumad2sim sends from one thread at a time: OpenSM's and ours hold a lock or are alone.
extern "C" ssize_t write(int number, const void* data, std::size_t size) {
  using Write = ssize_t (*)(int, const void*, std::size_t);
  static const auto next = reinterpret_cast<Write>(dlsym(RTLD_NEXT, "write"));
  static Meter meter;
  const ssize_t written = next(number, data, size);
  meter.count(data, size);
  return written;
}
