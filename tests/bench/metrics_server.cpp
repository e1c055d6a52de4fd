// SPDX-License-Identifier: Apache-2.0
// Serves a picture of many series on /metrics as weftd does, until its standard input ends, for scrapers to be measured
// on.
//
//   metrics_server SERIES
//
// Prints the port that it listens on.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "api/http/server.hpp"
#include "api/publication/publication.hpp"
#include "tests/bench/many_series.hpp"

int main(int argc, char** argv) {
  using namespace weft;
  const std::size_t series = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (series == 0) {
    std::fprintf(stderr, "usage: metrics_server SERIES\n");
    return 2;
  }
  const SystemClock clock;
  api::Publication publication;
  publication.publish(bench::snapshot_with_series(series, clock.now()));
  auto server = api::HttpServer::start({.port = 0}, publication, clock, {});
  if (!server) {
    std::fprintf(stderr, "metrics_server: %s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%u\n", static_cast<unsigned>((*server)->port()));
  std::fflush(stdout);
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) > 0;) {
  }
  (*server)->stop();
  return 0;
}
