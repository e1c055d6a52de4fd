// SPDX-License-Identifier: Apache-2.0
// The floor under a collector's reading: files that stay open are read once in each interval, and nothing is made of
// what they say.
//
//   bare_read_loop MICROSECONDS ROUNDS < PATHS
//
// Prints the processor time of one round, milliseconds.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

double processor_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "bare_read_loop MICROSECONDS ROUNDS < PATHS\n"), 2;
  std::vector<int> files;
  for (std::string path; std::getline(std::cin, path);) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return std::fprintf(stderr, "%s cannot be opened\n", path.c_str()), 1;
    files.push_back(file);
  }
  const int rounds = std::atoi(argv[2]);
  std::array<char, 64> buffer;
  const double before = processor_milliseconds();
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(std::atoi(argv[1])));
    for (const int file : files)
      if (::pread(file, buffer.data(), buffer.size(), 0) < 0) return 1;
  }
  std::printf("%.4f\n", (processor_milliseconds() - before) / rounds);
}
