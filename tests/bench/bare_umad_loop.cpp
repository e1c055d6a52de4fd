// SPDX-License-Identifier: Apache-2.0
// The peer of every sweep benchmark: the least that a program can do with libibumad to read PortCounters and
// PortCountersExtended of many ports with a window of requests. No retries, no decoding, no book-keeping.
//
//   bare_umad_loop TARGETS [WINDOW...]
//
// TARGETS holds lines of "LID FIRST-PORT LAST-PORT". Prints for each window, tab-separated: window, MADs answered,
// seconds of the best of three rounds, MADs a second, MADs lost.

#include <infiniband/umad.h>

#include <arpa/inet.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

namespace {

constexpr int kPerformanceClass = 4;
constexpr int kMadSize = 256;
constexpr int kPatience = 2000;  // milliseconds without any answer: what is outstanding then is lost
constexpr int kRounds = 3;
constexpr std::uint16_t kAttributes[] = {0x12, 0x1D};

struct Target {
  std::uint16_t lid;
  std::uint8_t port;
};

struct Round {
  std::size_t answered = 0;
  std::size_t lost = 0;
  double seconds = 0;
};

std::vector<Target> read_targets(const char* path) {
  std::vector<Target> targets;
  std::ifstream file(path);
  unsigned lid = 0;
  unsigned first = 0;
  unsigned last = 0;
  while (file >> lid >> first >> last)
    for (unsigned port = first; port <= last; ++port)
      targets.push_back({static_cast<std::uint16_t>(lid), static_cast<std::uint8_t>(port)});
  return targets;
}

bool send_one(int port, int agent, void* umad, const Target& target, std::uint16_t attribute,
              std::uint32_t transaction) {
  auto* mad = static_cast<std::uint8_t*>(umad_get_mad(umad));
  std::memset(mad, 0, kMadSize);
  mad[0] = 1;
  mad[1] = kPerformanceClass;
  mad[2] = 1;
  mad[3] = 1;  // Get
  const std::uint32_t id = htonl(transaction);
  std::memcpy(mad + 12, &id, sizeof id);
  mad[16] = static_cast<std::uint8_t>(attribute >> 8);
  mad[17] = static_cast<std::uint8_t>(attribute);
  mad[65] = target.port;
  umad_set_addr(umad, target.lid, 1, 0, 0x80010000);
  return umad_send(port, agent, umad, kMadSize, 0, 0) >= 0;
}

Round run_round(int port, int agent, void* request, void* reply, const std::vector<Target>& targets,
                std::size_t window) {
  Round round;
  const std::size_t total = targets.size() * 2;
  std::size_t sent = 0;
  std::size_t outstanding = 0;
  const auto began = std::chrono::steady_clock::now();
  while (sent < total || outstanding > 0) {
    while (sent < total && outstanding < window) {
      if (!send_one(port, agent, request, targets[sent / 2], kAttributes[sent % 2], static_cast<std::uint32_t>(sent)))
        break;
      ++sent;
      ++outstanding;
    }
    int length = kMadSize;
    if (umad_recv(port, reply, &length, kPatience) < 0) {
      round.lost += outstanding;
      outstanding = 0;
      continue;
    }
    --outstanding;
    if (umad_status(reply) == 0) {
      ++round.answered;
    } else {
      ++round.lost;
    }
  }
  round.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return round;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bare_umad_loop TARGETS [WINDOW...]\n");
    return 2;
  }
  const std::vector<Target> targets = read_targets(argv[1]);
  if (targets.empty()) {
    std::fprintf(stderr, "bare_umad_loop: no targets in %s\n", argv[1]);
    return 2;
  }
  std::vector<std::size_t> windows;
  for (int i = 2; i < argc; ++i) windows.push_back(std::strtoul(argv[i], nullptr, 10));
  if (windows.empty()) windows = {1, 8, 64, 256, 1024};

  umad_init();
  const int port = umad_open_port(nullptr, 0);
  const int agent = port < 0 ? -1 : umad_register(port, kPerformanceClass, 1, 0, nullptr);
  void* request = umad_alloc(1, umad_size() + kMadSize);
  void* reply = umad_alloc(1, umad_size() + kMadSize);
  if (agent < 0 || request == nullptr || reply == nullptr) {
    std::fprintf(stderr, "bare_umad_loop: cannot open a port\n");
    return 1;
  }
  for (const std::size_t window : windows) {
    Round best;
    for (int i = 0; i < kRounds; ++i) {
      const Round round = run_round(port, agent, request, reply, targets, window == 0 ? 1 : window);
      if (i == 0 || round.seconds < best.seconds) best = round;
    }
    std::printf("%zu\t%zu\t%.6f\t%.0f\t%zu\n", window, best.answered, best.seconds,
                static_cast<double>(best.answered) / best.seconds, best.lost);
    std::fflush(stdout);
  }
  umad_free(request);
  umad_free(reply);
  umad_unregister(port, agent);
  umad_close_port(port);
  umad_done();
  return 0;
}
