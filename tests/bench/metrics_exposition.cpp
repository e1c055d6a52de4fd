// SPDX-License-Identifier: Apache-2.0
// One million series: our exposition against prometheus-cpp's registry and serializer on the very same series.
// Prints one line, tab separated: name, ours, peer, ratio. Details go to stderr.

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/metrics/exposition.hpp"
#include "tests/bench/many_series.hpp"

namespace weft {
namespace {

using Steady = std::chrono::steady_clock;
constexpr TimePoint kNow{std::chrono::seconds(1'700'000'000)};
constexpr std::size_t kSeries = 1'000'000;

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

/// Calls `each` with every piece of one scrape.
template <typename Each>
void scrape(const std::shared_ptr<const Snapshot>& snapshot, Each&& each) {
  api::Exposition exposition(snapshot, {kNow, {}}, api::MetricsFormat::kText);
  for (std::string_view piece = exposition.next(); !piece.empty(); piece = exposition.next()) each(piece);
}

/// The same series in a registry, read from the text of ours (whose labels need no unescaping here).
class Peer {
 public:
  void add(std::string_view line) {
    if (line.starts_with("# TYPE ")) {
      line.remove_prefix(7);
      const std::string name(line.substr(0, line.find(' ')));
      counter_ = line.ends_with(" counter");
      if (counter_) {
        counters_ = &prometheus::BuildCounter().Name(name).Help(name).Register(registry_);
      } else {
        gauges_ = &prometheus::BuildGauge().Name(name).Help(name).Register(registry_);
      }
      return;
    }
    if (line.empty() || line.front() == '#') return;
    prometheus::Labels labels;
    const std::size_t open = line.find('{');
    const std::size_t close = line.rfind('}');
    if (open != std::string_view::npos) {
      std::string_view rest = line.substr(open + 1, close - open - 1);
      while (!rest.empty()) {
        const std::size_t equals = rest.find("=\"");
        const std::size_t end = rest.find('"', equals + 2);
        labels.emplace(rest.substr(0, equals), rest.substr(equals + 2, end - equals - 2));
        rest.remove_prefix(std::min(rest.size(), end + 2));
      }
    }
    const double value = std::strtod(std::string(line.substr(line.rfind(' ') + 1)).c_str(), nullptr);
    if (counter_) {
      counters_->Add(labels).Increment(value);
    } else {
      gauges_->Add(labels).Set(value);
    }
    ++series_;
  }
  std::size_t series() const { return series_; }
  std::size_t collect_and_serialize() const {
    return prometheus::TextSerializer().Serialize(registry_.Collect()).size();
  }

 private:
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>* counters_ = nullptr;
  prometheus::Family<prometheus::Gauge>* gauges_ = nullptr;
  bool counter_ = false;
  std::size_t series_ = 0;
};

template <typename Run>
double median_of_five(Run&& run) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto start = Steady::now();
    run();
    times.push_back(seconds_since(start));
  }
  std::sort(times.begin(), times.end());
  return times[2];
}

long resident_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace
}  // namespace weft

int main() {
  using namespace weft;
  const auto snapshot = bench::snapshot_with_series(kSeries, kNow);
  std::size_t bytes = 0;
  std::size_t sink = 0;
  scrape(snapshot, [&](std::string_view piece) { bytes += piece.size(); });
  const long before = resident_kilobytes();
  const double ours = median_of_five([&] {
    scrape(snapshot, [&](std::string_view piece) { sink += static_cast<unsigned char>(piece[piece.size() / 2]); });
  });
  const long after = resident_kilobytes();
  Peer peer;
  scrape(snapshot, [&](std::string_view piece) {
    for (std::size_t end = 0; (end = piece.find('\n')) != std::string_view::npos; piece.remove_prefix(end + 1))
      peer.add(piece.substr(0, end));
  });
  std::size_t peer_bytes = 0;
  const double theirs = median_of_five([&] { peer_bytes = peer.collect_and_serialize(); });
  std::fprintf(
      stderr,
      "%zu series; ours %.0f MB in %.3f s, %.0f MB/s, peak memory grew by %ld kB while scraping; prometheus-cpp "
      "%.0f MB in %.3f s (%zu)\n",
      peer.series(), static_cast<double>(bytes) / 1e6, ours, static_cast<double>(bytes) / 1e6 / ours, after - before,
      static_cast<double>(peer_bytes) / 1e6, theirs, sink % 10);
  std::printf("metrics of %zu series\t%.3f s (%.0f MB/s)\t%.3f s (prometheus-cpp)\t%.1f\n", peer.series(), ours,
              static_cast<double>(bytes) / 1e6 / ours, theirs, theirs / ours);
  return peer.series() >= kSeries ? 0 : 1;
}
