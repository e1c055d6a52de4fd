// SPDX-License-Identifier: Apache-2.0
// Serves a picture of many series on /metrics as weftd does, until its standard input ends, for scrapers to be measured
// on.
//
//   metrics_server SERIES
//   metrics_server --hosts HOSTS [--zeros]
//
// The second form serves the site of sized_fabric.hpp, whose traffic moves every five seconds. Prints the port that it
// listens on.

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "api/http/server.hpp"
#include "api/publication/publication.hpp"
#include "tests/bench/many_series.hpp"
#include "tests/bench/sized_fabric.hpp"

namespace weft {
namespace {

/// The same site, a moment later: every port carried something.
std::shared_ptr<const Snapshot> moved_on(const Snapshot& before, TimePoint now, std::uint64_t& chance) {
  auto after = std::make_shared<Snapshot>(before);
  auto sweep = std::make_shared<Sweep>(*before.fabrics.front().sweep);
  auto counters = std::make_shared<SampleTable>(*sweep->counters);
  for (const CounterId id : counters->counters()) {
    if (counter_info(id).is_left_out_at_zero()) continue;
    for (std::size_t row = 0; row < counters->rows(); ++row) {
      if (!counters->present(row, counters->column(id))) continue;
      chance = chance * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
      counters->set(row, counters->column(id), counters->value(row, counters->column(id)) + (chance >> 30), false);
      counters->set_read_at(row, now);
    }
  }
  sweep->counters = std::move(counters);
  sweep->finished = now;
  sweep->state_read_at.assign(sweep->state_read_at.size(), now);
  after->fabrics.front().sweep = std::move(sweep);
  return after;
}

/// Returns when standard input ended.
void serve_site(unsigned hosts, bool zeros, api::Publication& publication, const Clock& clock) {
  std::shared_ptr<const Snapshot> snapshot = bench::sized_fabric(hosts, clock.now(), !zeros).snapshot;
  std::uint64_t chance = 1;
  for (pollfd input{STDIN_FILENO, POLLIN, 0}; poll(&input, 1, 5000) == 0;) {
    snapshot = moved_on(*snapshot, clock.now(), chance);
    publication.publish(snapshot);
  }
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  using namespace weft;
  const bool is_site = argc >= 3 && argv[1] == std::string_view("--hosts");
  const std::size_t count = argc >= 2 ? std::strtoull(argv[is_site ? 2 : 1], nullptr, 10) : 0;
  if (count == 0) {
    std::fprintf(stderr, "usage: metrics_server SERIES | metrics_server --hosts HOSTS [--zeros]\n");
    return 2;
  }
  const SystemClock clock;
  api::Publication publication;
  if (!is_site) publication.publish(bench::snapshot_with_series(count, clock.now()));
  auto server = api::HttpServer::start({.port = 0}, publication, clock, {});
  if (!server) {
    std::fprintf(stderr, "metrics_server: %s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%u\n", static_cast<unsigned>((*server)->port()));
  std::fflush(stdout);
  if (is_site)
    serve_site(static_cast<unsigned>(count), argc == 4 && argv[3] == std::string_view("--zeros"), publication, clock);
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) > 0;) {
  }
  (*server)->stop();
  return 0;
}
