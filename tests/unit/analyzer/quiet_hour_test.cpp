// SPDX-License-Identifier: Apache-2.0
// An hour in which nothing is wrong gives nothing.
#include <random>

#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

TEST(QuietHour, OfPlausibleNoiseGivesNoFinding) {
  Watch watch(FabricBuilder::fat_tree(4, 8, 8));
  std::mt19937 random(20240607);
  std::uniform_real_distribution<double> chance(0, 1);
  const auto ports = static_cast<PortIndex>(watch.fabric.ports().size());
  ASSERT_GE(ports, 200U);
  std::uniform_int_distribution<PortIndex> any(0, ports - 1);
  std::size_t findings = 0;
  std::size_t symbol_errors = 0;
  int late = -1;
  for (int second = 0; second < 3600; ++second) {
    watch.fabric.traffic(random);
    // A healthy link is at 1e-15: 200 ports at 200 Gb/s make a symbol error every 25 s.
    if (chance(random) < 0.04) {
      watch.fabric.add_counter(any(random), CounterId::kSymbolErrors, 1);
      ++symbol_errors;
    }
    if (second % 300 == 10) watch.fabric.reset_counters(any(random));
    if (chance(random) < 0.02) watch.fabric.add_counter(any(random), CounterId::kTransmitDiscards, 3);
    if (chance(random) < 0.02) watch.fabric.add_counter(any(random), CounterId::kReceiveRemotePhysicalErrors, 1);
    // A node is late with its answers for a sweep, counters of another for two.
    if (late >= 0) watch.fabric.silence(static_cast<NodeIndex>(late), false);
    late = second % 40 == 7 ? static_cast<int>(random() % watch.fabric.nodes().size()) : -1;
    if (late >= 0) watch.fabric.silence(static_cast<NodeIndex>(late));
    if (second % 50 == 20) watch.fabric.freeze_counters(static_cast<NodeIndex>(second / 50) % 12);
    if (second % 50 == 22) watch.fabric.freeze_counters(static_cast<NodeIndex>(second / 50) % 12, false);
    watch.sweeps(1);
    findings += watch.analysis.findings.size();
    ASSERT_EQ(findings, 0U) << "second " << second << ": " << watch.analysis.findings.front().summary;
  }
  EXPECT_GT(symbol_errors, 100U) << "there was noise";
  EXPECT_TRUE(watch.book.all()->empty());
}

}  // namespace
}  // namespace weft::analyzer
