// SPDX-License-Identifier: Apache-2.0
#include "analyzer/acceptance/acceptance_watch.hpp"

#include "tests/unit/analyzer/acceptance/accepting.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct Watching : Accepting {
  const WatchedPort& watched(PortIndex of) { return *watches[fabric.name()].find(fabric.key_of(of)); }
  PortIndex port = fabric.port_of("host-0-0 mlx5_0", 1);
};

TEST_F(Watching, CountsFromItsFirstReading) {
  fabric.add_counter(port, CounterId::kSymbolErrors, 500);
  sweeps(1);
  EXPECT_EQ(watched(port).span(), 0s);
  fabric.add_counter(port, CounterId::kSymbolErrors, 2);
  sweeps(2);
  EXPECT_EQ(watched(port).grown(CounterId::kSymbolErrors), 2U);
  EXPECT_EQ(watched(port).span(), 60s);
  EXPECT_DOUBLE_EQ(watched(port).line_bits, 2e11 * 60);
  EXPECT_EQ(watched(port).gaps + watched(port).clears + watched(port).downs, 0U);
}

TEST_F(Watching, GoesOnAfterANewDiscovery) {
  sweeps(10);
  fabric.rediscover();
  port = fabric.port_of("host-0-0 mlx5_0", 1);
  fabric.add_counter(port, CounterId::kSymbolErrors, 7);
  sweeps(1);
  EXPECT_EQ(watched(port).grown(CounterId::kSymbolErrors), 7U) << "rows mean other ports, and each is found again";
  sweeps(3);
  EXPECT_EQ(watched(port).gaps + watched(port).clears, 0U);
  EXPECT_EQ(watched(port).span(), 390s);
}

TEST_F(Watching, AGapOfReadingsBeginsItAnew) {
  sweeps(10);
  fabric.silence(fabric.find("host-0-0 mlx5_0"));
  sweeps(2);
  fabric.silence(fabric.find("host-0-0 mlx5_0"), false);
  sweeps(1);
  EXPECT_EQ(watched(port).gaps, 0U) << "90 s are not too long here";
  EXPECT_EQ(watched(port).span(), 360s);
  fabric.silence(fabric.find("host-0-0 mlx5_0"));
  sweeps(4);
  fabric.silence(fabric.find("host-0-0 mlx5_0"), false);
  sweeps(1);
  EXPECT_EQ(watched(port).gaps, 1U);
  EXPECT_EQ(watched(port).span(), 0s);
}

TEST_F(Watching, ErrorsOfTrainingAreNotTheLinks) {
  sweeps(5);
  fabric.unlink(port);
  sweeps(1);
  fabric.add_counter(port, CounterId::kSymbolErrors, 900);
  fabric.relink(port);
  sweeps(3);
  EXPECT_EQ(watched(port).grown(CounterId::kSymbolErrors), 0U);
  EXPECT_EQ(watched(port).downs, 1U);
  EXPECT_EQ(watched(port).span(), 60s);
}

TEST_F(Watching, AStuckCounterIsSaidToBe) {
  fabric.set_counter(port, CounterId::kSymbolErrors, 65535, true);
  sweeps(61);
  EXPECT_TRUE(watched(port).is_stuck(CounterId::kSymbolErrors));
  EXPECT_EQ(check(AcceptanceKind::kBitErrors).verdict, AcceptanceVerdict::kNotMeasured);
  EXPECT_EQ(report().verdict, AcceptanceVerdict::kIncomplete);
}

/// Adds a table of what error correction counts.
struct WatchingFec : Watching {
  void fec_sweep(std::uint64_t corrected, std::uint64_t lost) {
    if (!details || details->rows() == 0)
      details = std::make_shared<SampleTable>(SampleTable::of_group(CounterGroup::kDetail, fabric.ports().size()));
    Sweep next = fabric.sweep();
    auto table = std::make_shared<SampleTable>(*details);
    for (std::size_t row = 0; row < table->rows(); ++row) {
      table->set(row, table->column(CounterId::kRsFecCorrectedSymbols), row == port ? corrected : 0, false);
      table->set(row, table->column(CounterId::kRsFecUncorrectableBlocks), row == port ? lost : 0, false);
      table->set_read_at(row, next.finished);
    }
    details = table;
    next.details = table;
    sweep = std::make_shared<const Sweep>(std::move(next));
    std::vector<PortIndex> all(sweep->topology->ports().size());
    std::iota(all.begin(), all.end(), PortIndex{0});
    watches[fabric.name()].update(*sweep, all, 90s);
  }
  std::shared_ptr<const SampleTable> details;
};

TEST_F(WatchingFec, LostCodeWordsFailAndTooFewAreUnfinished) {
  fec_sweep(100, 3);
  for (int i = 0; i < 60; ++i) fec_sweep(100, 3);
  const AcceptanceCheck young = check(AcceptanceKind::kFec);
  EXPECT_EQ(young.verdict, AcceptanceVerdict::kNotYet) << "3e11 code words take 8,149 s at 200 Gb/s";
  EXPECT_GT(young.judged_at, fabric.now() + 6300s);
  EXPECT_EQ(report().verdict, AcceptanceVerdict::kNotYet);
  fec_sweep(100, 12);
  const AcceptanceCheck failed = check(AcceptanceKind::kFec);
  EXPECT_EQ(failed.verdict, AcceptanceVerdict::kFail);
  EXPECT_TRUE(names(failed, label(port)));
  EXPECT_NE(failed.ports.front().told.find("9 code words not repaired"), std::string::npos)
      << failed.ports.front().told;
}

TEST_F(WatchingFec, TooMuchToRepairFails) {
  std::uint64_t corrected = 0;
  fec_sweep(corrected, 0);
  for (int i = 0; i < 3; ++i) fec_sweep(corrected += static_cast<std::uint64_t>(2e11 * 30 * 3e-5), 0);
  const AcceptanceCheck failed = check(AcceptanceKind::kFec);
  EXPECT_EQ(failed.verdict, AcceptanceVerdict::kFail);
  EXPECT_TRUE(names(failed, label(port)));
}

}  // namespace
}  // namespace weft::analyzer
