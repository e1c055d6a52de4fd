// SPDX-License-Identifier: Apache-2.0
// Judging the hosts of one job: HOSTS with RAILS adapters each, all of one job, a reading each second, one of them a
// straggler. Processor time of one core. Usage: straggler_pass HOSTS RAILS LIMIT_SECONDS. Prints a line of name, ours,
// limit, ratio, tab separated; what it found and how much memory it took go to the other output.

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "analyzer/host_analyzer.hpp"

namespace weft {
namespace {

constexpr int kSeconds = 60;
constexpr TimePoint kBegin{std::chrono::seconds(1'700'000'000)};

double processor_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

double resident_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Bytes that a port has sent at `at` seconds: 4 s compute, first chunk, 2 s wait for the straggler, 4 s transfer.
std::uint64_t bytes(double at, bool straggler) {
  constexpr double kPeriod = 10;
  constexpr double kLine = 40e9;
  const auto whole = static_cast<std::uint64_t>(at / kPeriod);
  const double phase = at - static_cast<double>(whole) * kPeriod;
  std::uint64_t sum = whole * static_cast<std::uint64_t>(4 * kLine + (4 << 20));
  if (phase >= (straggler ? 6 : 4)) sum += 4 << 20;
  if (phase >= 6) sum += static_cast<std::uint64_t>((phase - 6) * kLine);
  return sum + static_cast<std::uint64_t>(at * 1e5);
}

void measure(unsigned hosts, unsigned rails, double limit) {
  analyzer::HostAnalyzer analyzer(analyzer::Thresholds{}, kBegin);
  auto inventory = std::make_shared<HostInventory>();
  std::vector<HostSeries> series;
  for (unsigned rail = 0; rail < rails; ++rail) {
    HostPort& port = inventory->ports.emplace_back();
    port.device = "mlx5_" + std::to_string(rail);
    port.number = 1;
    port.state = PortState::kActive;
    for (const char* name : {"transmit_bytes", "receive_bytes"})
      series.push_back({.device = port.device, .port = 1, .name = name});
  }
  inventory->series = SeriesList(std::move(series));
  const double before_all = resident_megabytes();
  double slowest = 0;
  double sum = 0;
  double taking = 0;
  std::size_t found = 0;
  for (int second = 1; second <= kSeconds; ++second) {
    for (unsigned host = 0; host < hosts; ++host) {
      const std::string name = "node-" + std::to_string(host);
      const double at = second - 1 + static_cast<double>(host * 7919 % hosts) / hosts;
      HostBatch batch;
      batch.reading.emplace();
      batch.reading->taken = kBegin + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(at));
      batch.reading->inventory = inventory;
      batch.reading->values.assign(std::size_t{2} * rails, bytes(at, host == 17));
      batch.reading->present.assign(std::size_t{2} * rails, 1);
      batch.reading->jobs = {"slurm:7"};
      analyzer.hear(name, std::chrono::seconds(1), kBegin + std::chrono::seconds(second));
      const double before = processor_seconds();
      analyzer.take(name, batch);
      taking += processor_seconds() - before;
    }
    const double before = processor_seconds();
    const analyzer::Analysis analysis = analyzer.judge(kBegin + std::chrono::seconds(second));
    const double spent = processor_seconds() - before;
    slowest = std::max(slowest, spent);
    sum += spent;
    found = static_cast<std::size_t>(std::ranges::count(analysis.findings, IncidentKind::kStraggler, &Finding::kind));
  }
  std::fprintf(
      stderr,
      "%zu stragglers found; %.3f s for a judgement on average, %.3f s to take the readings of a second; %.0f MB\n",
      found, sum / kSeconds, taking / kSeconds, resident_megabytes() - before_all);
  std::printf("judging %u hosts × %u ports of one job, s of one core, slowest of %d (limit)\t%.3f\t%.2f\t%.2f\n", hosts,
              rails, kSeconds, slowest, limit, limit / slowest);
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)); };
  weft::measure(number(1), number(2), std::strtod(argv[3], nullptr));
}
