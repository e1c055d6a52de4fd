// SPDX-License-Identifier: Apache-2.0
// Counts the series and bytes of one scrape of sites of several sizes: what a Prometheus must hold.
//
//   series_size HOSTS...
//
// Prints a table in Markdown: with every series (metrics.zeros), with what is left out by default, each group, and
// infiniband_exporter's names. Below it: what weftd pays for each sweep to know which counters moved.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "api/metrics/exposition.hpp"
#include "api/metrics/gzip.hpp"
#include "api/metrics/infiniband_exporter_page.hpp"
#include "tests/bench/sized_fabric.hpp"

namespace weft {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(1'700'000'000)};

struct Size {
  double series = 0;
  double bytes = 0;
  double packed = 0;
  double seconds = 0;  ///< without packing
};

template <typename Page>
Size size_of_page(Page page) {
  Size size;
  api::GzipStream gzip;
  for (;;) {
    const auto began = std::chrono::steady_clock::now();
    const std::string_view piece = page.next();
    size.seconds += seconds(std::chrono::steady_clock::now() - began);
    if (piece.empty()) break;
    size.bytes += static_cast<double>(piece.size());
    for (std::size_t at = 0; at < piece.size(); at = piece.find('\n', at) + 1) size.series += piece[at] != '#';
    std::string packed;
    gzip.compress(piece, packed);
    size.packed += static_cast<double>(packed.size());
  }
  return size;
}

Size size_of(const std::shared_ptr<const Snapshot>& snapshot, MetricGroups groups) {
  return size_of_page(api::Exposition(snapshot, {kNow, {}}, api::MetricsFormat::kText, {}, groups));
}

void print(const std::string& what, const Size& size, std::size_t ports) {
  const auto count = static_cast<double>(ports);
  std::printf("| %s | %.0f | %.1f | %.0f MB | %.0f | %.0f MB | %.1f s |\n", what.c_str(), size.series,
              size.series / count, size.bytes / 1e6, size.bytes / count, size.packed / 1e6, size.seconds);
  std::fflush(stdout);
}

/// What weftd pays for each sweep to follow which counters moved: where none did, and where of every hundredth port one
/// moved for the first time.
void print_following(const char* what, const SampleTable& table, const std::shared_ptr<const Topology>& topology,
                     CounterId id) {
  const auto timed = [](auto&& work) {
    const auto began = std::chrono::steady_clock::now();
    work();
    return 1e3 * seconds(std::chrono::steady_clock::now() - began);
  };
  SampleTable next = table;
  TableMoves moves(std::chrono::seconds(90));
  const auto sweep = [&](int second) {
    for (std::size_t row = 0; row < next.rows(); ++row) next.set_read_at(row, kNow + std::chrono::seconds(second));
    return timed([&] { moves.update(&next, topology, std::chrono::seconds(second)); });
  };
  const double first = sweep(1);
  const double quiet = sweep(2);
  for (std::size_t row = 1; row < next.rows(); row += 100)
    if (next.present(row, next.column(id))) next.set(row, next.column(id), next.value(row, next.column(id)) + 1, false);
  std::printf("following %s: %.0f ms at first, %.0f ms where nothing moves, %.0f ms where 1 %% of the ports do\n", what,
              first, quiet, sweep(3));
  std::fflush(stdout);
}

void measure(unsigned hosts) {
  const auto all = bench::sized_fabric(hosts, kNow, false);
  std::printf("\n%u hosts, %u adapters, %zu ports\n\n", hosts, hosts * 8, all.ports);
  std::printf("| one scrape | series | per port | text | bytes per port | with gzip | time |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- |\n");
  print("`metrics.zeros = true`", size_of(all.snapshot, MetricGroups::all()), all.ports);
  const auto made = bench::sized_fabric(hosts, kNow, true);
  print("default", size_of(made.snapshot, MetricGroups::all()), made.ports);
  for (const std::string_view name : metric_group_names()) {
    const std::string group(name);
    print("`collect[]=" + group + '`', size_of(made.snapshot, *metric_groups(std::span(&group, 1))), made.ports);
  }
  print("`names=infiniband_exporter`",
        size_of_page(api::InfinibandExporterPage(made.snapshot, kNow, api::MetricsFormat::kText, MetricGroups::all())),
        made.ports);
  const Sweep& sweep = *made.snapshot->fabrics.front().sweep;
  std::printf("\n");
  print_following("counters", *sweep.counters, sweep.topology, CounterId::kSymbolErrors);
  print_following("details", *sweep.details, sweep.topology, CounterId::kLocalPhysicalErrors);
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: series_size HOSTS...\n");
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    const unsigned long hosts = std::strtoul(argv[i], nullptr, 10);
    if (hosts < 1 || hosts > 100'000) {
      std::fprintf(stderr, "series_size: from 1 to 100000 hosts, not %s\n", argv[i]);
      return 2;
    }
    weft::measure(static_cast<unsigned>(hosts));
  }
  return 0;
}
