// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
using std::chrono::minutes;

// A fabric whose ports count what error correction repairs; one sweep a minute, details with each.
struct FecTrend : testing::Test {
  FecTrend()
      : fabric(FabricBuilder::fat_tree(2, 3, 4)),
        analyzer(fabric.name(), Thresholds{}),
        book(IncidentPolicy{}, {}, 1),
        end(fabric.port_towards("leaf-1", "spine-0")) {
    fabric.set_interval(minutes(1));
    exponent.assign(fabric.ports().size(), -8);
    details = SampleTable({CounterId::kRsFecCorrectedSymbols}, fabric.ports().size());
    symbols.assign(fabric.ports().size(), 0);
  }

  void sweeps(unsigned count, const std::function<void()>& before_each = {}) {
    std::normal_distribution<double> wander(0, 0.05);
    for (unsigned i = 0; i < count; ++i) {
      if (before_each) before_each();
      Sweep sweep = fabric.sweep();
      for (PortIndex port = 0; port < symbols.size(); ++port) {
        const Port& is = fabric.ports()[port];
        if (is.peer == kNoIndex || !is.is_up()) continue;
        const double bits = link_bits_per_second(is.width_active, is.speed_active) * 60;
        symbols[port] += bits * std::pow(10, exponent[port] + wander(random));
        const auto lane = static_cast<SampleTable::Column>(port % 4);
        const bool is_full = full && port == end;
        const std::uint64_t value = is_full ? 0xFFFFFFFF : static_cast<std::uint64_t>(symbols[port]);
        if (!silent) details.set(port, lane, value, is_full);
        if (!silent) details.set_read_at(port, sweep.finished);
      }
      sweep.details = std::make_shared<const SampleTable>(details);
      Analysis analysis = analyzer.analyze(sweep, fabric.now());
      book.update(fabric.name(), std::move(analysis.findings), analysis.coverage, fabric.now());
    }
  }
  std::vector<Incident> open() const {
    std::vector<Incident> open;
    for (const IncidentPtr& incident : *book.all())
      if (incident->is_open()) open.push_back(*incident);
    return open;
  }

  FabricBuilder fabric;
  FabricAnalyzer analyzer;
  IncidentManager book;
  PortIndex end;
  SampleTable details;
  std::vector<double> exponent, symbols;
  std::mt19937 random{7};
  bool silent = false;
  bool full = false;  // the counter at `end` is stuck at all ones
};

TEST_F(FecTrend, ReportsARisingFecRateBeforeDataIsLost) {
  sweeps(30);
  EXPECT_TRUE(open().empty());
  sweeps(60, [&] { exponent[end] += 0.06; });
  ASSERT_EQ(open().size(), 1U);
  const Incident worse = open().front();
  EXPECT_EQ(worse.finding.kind, IncidentKind::kLinkDegraded);
  EXPECT_EQ(worse.finding.severity, Severity::kWarning) << "by now it is near what correction can bear";
  EXPECT_EQ(make_link_key(worse.finding.cause.port, worse.finding.cause.peer), fabric.link_of(end));
  ASSERT_FALSE(worse.finding.evidence.empty());
  EXPECT_EQ(worse.finding.evidence.front().where.port, fabric.key_of(end)) << "the end that receives the errors";
  exponent[end] = -8;
  sweeps(60);
  EXPECT_TRUE(open().empty()) << "as after a cleaning";
}

TEST_F(FecTrend, ADailyCycleIsNoTrend) {
  double minute = 0;
  sweeps(24 * 60, [&] {
    minute += 1;
    for (double& of : exponent) of = -8 + 0.25 * std::sin(minute / (24 * 60) * 6.2832);
  });
  EXPECT_TRUE(open().empty()) << open().front().finding.summary;
  exponent[end] += 2;  // one bad minute
  sweeps(1);
  exponent[end] -= 2;
  sweeps(10);
  EXPECT_TRUE(open().empty());
}

TEST_F(FecTrend, ATrendFarBelowTheLimitIsNotReported) {
  for (double& of : exponent) of = -14;
  sweeps(30);
  sweeps(60, [&] { exponent[end] = std::min(exponent[end] + 0.1, -9.5); });
  EXPECT_TRUE(open().empty());
}

TEST_F(FecTrend, ClearedCountersAndGapsAreNoTrend) {
  sweeps(30);
  for (double& of : symbols) of = 0;
  sweeps(5);
  silent = true;
  sweeps(30);
  silent = false;
  sweeps(10);
  EXPECT_TRUE(open().empty());
}

TEST_F(FecTrend, AFullCounterIsUnknownNotClean) {
  sweeps(30);
  full = true;
  sweeps(60);
  EXPECT_TRUE(open().empty());
  full = false;
  symbols[end] = 0;  // the link went down and came up
  sweeps(30);
  EXPECT_TRUE(open().empty()) << "as many as before it was full";
  sweeps(60, [&] { exponent[end] += 0.06; });
  EXPECT_EQ(open().size(), 1U) << "the baseline is that of the time before";
}

TEST_F(FecTrend, AFlapClearsTheCounterAndIsNoDropOfItsRate) {
  sweeps(30);
  for (int i = 0; i < 30; ++i) {
    // Each flap clears what was counted; what follows may be more than was there before.
    fabric.add_counter(end, CounterId::kLinkDowned, 1);
    symbols[end] = symbols[end] / 2;
    sweeps(1);
    sweeps(2);
  }
  for (const Incident& incident : open()) EXPECT_NE(incident.finding.kind, IncidentKind::kLinkDegraded);
}

TEST_F(FecTrend, TheBaselineSurvivesARestartAndANewEpoch) {
  sweeps(30);
  const AnalyzerState state = analyzer.state();
  EXPECT_GT(state.fec_baselines.size(), 10U);
  // Worse while nobody watched, and steady since: against its own past only it is worse.
  analyzer = FabricAnalyzer(fabric.name(), Thresholds{});
  analyzer.restore(state);
  EXPECT_EQ(analyzer.state().fec_baselines.size(), state.fec_baselines.size()) << "also before the first sweep";
  exponent[end] += 1.5;
  fabric.rediscover();
  sweeps(20);
  ASSERT_EQ(open().size(), 1U);
  EXPECT_EQ(open().front().finding.kind, IncidentKind::kLinkDegraded);
  fabric.rediscover();
  sweeps(5);
  EXPECT_EQ(open().size(), 1U);
}

TEST_F(FecTrend, AnotherCableIsLearnedAnew) {
  sweeps(30);
  fabric.unlink(end);
  sweeps(10);
  fabric.relink(end);
  exponent[end] += 2;
  sweeps(60);
  EXPECT_TRUE(open().empty()) << open().front().finding.summary;
}

TEST_F(FecTrend, AnotherSpeedIsLearnedAnew) {
  sweeps(30);
  for (const PortIndex port : {end, fabric.ports()[end].peer}) {
    Port& slower = fabric.port(port);
    slower.speed_active = slower.speed_enabled = slower.speed_supported = kSpeedEdr;
  }
  exponent[end] += 2;
  sweeps(60);
  EXPECT_TRUE(open().empty()) << open().front().finding.summary;
}

}  // namespace
}  // namespace weft::analyzer
