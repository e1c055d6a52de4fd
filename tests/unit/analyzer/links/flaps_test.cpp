// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
using std::chrono::hours;
using std::chrono::minutes;

struct Flapping : testing::Test {
  Flapping() : watch(FabricBuilder::fat_tree(2, 3, 4)), end(watch.fabric.port_towards("leaf-1", "spine-0")) {
    watch.sweeps(3);
  }
  /// Down for one sweep, up for one.
  void flap(unsigned times) {
    for (unsigned i = 0; i < times; ++i) {
      watch.fabric.unlink(end);
      watch.sweeps(1);
      watch.fabric.relink(end);
      watch.sweeps(1);
    }
  }
  /// Time goes by with a sweep each minute.
  void wait(Duration duration) {
    const Duration interval = watch.fabric.interval();
    watch.fabric.set_interval(minutes(1));
    watch.sweeps(static_cast<unsigned>(duration / minutes(1)));
    watch.fabric.set_interval(interval);
  }
  /// Without single ones, of which JobFlaps decides.
  std::vector<Incident> flaps() const {
    std::vector<Incident> found;
    for (const Incident& incident : watch.open())
      if (incident.finding.kind == IncidentKind::kLinkFlap && incident.finding.severity > Severity::kInfo)
        found.push_back(incident);
    return found;
  }

  Watch watch;
  PortIndex end;
};

TEST_F(Flapping, OneUnplugIsNone) {
  flap(1);
  watch.sweeps(10);
  EXPECT_TRUE(flaps().empty());
}

TEST_F(Flapping, EvidenceIsOfTheLastFlapAndStaysTrue) {
  flap(5);
  const TimePoint last = watch.fabric.now();
  const auto found = [this](const char* signal) {
    for (const Finding& finding : watch.analysis.findings)
      for (const Evidence& evidence : finding.evidence)
        if (evidence.signal == signal) return evidence;
    return Evidence{};
  };
  const Evidence before = found("flap_penalty_fast");
  EXPECT_TRUE(before.description.starts_with("the fast flap penalty was 4,980 points after the last flap"))
      << before.description;
  EXPECT_LT(last - before.observed, std::chrono::seconds(3));
  EXPECT_EQ(found("flaps").description, "went down 5 times");
  wait(minutes(10));
  EXPECT_EQ(found("flap_penalty_fast").description, before.description) << "it decays, but was the same then";
  EXPECT_NEAR(found("flap_penalty_fast").value, before.value, 1e-6 * before.value);
  EXPECT_EQ(found("flaps").observed, before.observed);
}

TEST_F(Flapping, FiveTimesIsOneWithinTwoSweepsAndTheDownsAreInside) {
  flap(5);
  const Incident flapping = watch.only();
  EXPECT_EQ(flapping.finding.kind, IncidentKind::kLinkFlap) << watch.describe();
  EXPECT_EQ(link_of(flapping), watch.fabric.link_of(end));
  EXPECT_GT(flapping.finding.confidence, 0.9) << "both ends saw it";
  EXPECT_NE(flapping.finding.summary.find("is flapping"), std::string::npos) << flapping.finding.summary;
  wait(minutes(10));
  EXPECT_NE(watch.only().finding.summary.find("was flapping; it stays listed"), std::string::npos)
      << watch.only().finding.summary;
  wait(hours(1));
  EXPECT_TRUE(watch.open().empty()) << "a bad minute is forgotten by both layers: " << watch.describe();
}

TEST_F(Flapping, AHostThatWasCutOffTellsOfTheSameUnpluggingLater) {
  const PortIndex leaf = watch.fabric.port_towards("leaf-1", "host-1-0 mlx5_0");
  const NodeIndex host = watch.fabric.find("host-1-0 mlx5_0");
  for (unsigned pulled = 1; pulled <= 2; ++pulled) {
    watch.fabric.silence(host);  // nobody reaches it without its cable
    watch.fabric.unlink(leaf);
    watch.fabric.add_counter(leaf, CounterId::kLinkDowned, 1);
    watch.sweeps(8);
    watch.fabric.relink(leaf, PortState::kInitialize);
    watch.sweeps(4);
    watch.fabric.silence(host, false);
    watch.fabric.add_counter(watch.fabric.port_of("host-1-0 mlx5_0", 1), CounterId::kLinkDowned, 1);
    watch.sweeps(4);
    watch.fabric.relink(leaf);
    watch.sweeps(10);
    ASSERT_EQ(watch.analyzer.state().flaps.size(), 1U);
    EXPECT_EQ(watch.analyzer.state().flaps[0].flaps, pulled);
  }
  EXPECT_TRUE(flaps().empty()) << watch.describe();
}

TEST_F(Flapping, ShorterThanASweepIsSeenByTheLinkDownedCounter) {
  for (int i = 0; i < 3; ++i) {
    watch.fabric.add_counter(end, CounterId::kLinkDowned, 1);
    watch.fabric.add_counter(watch.fabric.ports()[end].peer, CounterId::kLinkDowned, 1);
    watch.sweeps(2);
  }
  const Incident flapping = watch.only();
  EXPECT_EQ(flapping.finding.kind, IncidentKind::kLinkFlap);
  EXPECT_EQ(link_of(flapping), watch.fabric.link_of(end));
  EXPECT_GT(flapping.finding.confidence, 0.9);
}

TEST_F(Flapping, SeenAtOneEndOnlyIsLessSure) {
  watch.fabric.add_counter(end, CounterId::kLinkDowned, 4);
  watch.sweeps(2);
  EXPECT_LT(watch.only().finding.confidence, 0.8);
}

TEST_F(Flapping, StatesAndCountersOfBothEndsAreOneFlapNotFour) {
  const PortIndex far = watch.fabric.ports()[end].peer;
  for (int i = 0; i < 2; ++i) {
    watch.fabric.unlink(end);
    watch.fabric.add_counter(end, CounterId::kLinkDowned, 1);
    watch.sweeps(1);
    // The far end's counter is read a sweep later.
    watch.fabric.add_counter(far, CounterId::kLinkDowned, 1);
    watch.fabric.relink(end);
    watch.sweeps(1);
  }
  watch.sweeps(5);
  EXPECT_TRUE(flaps().empty()) << "two flaps, noticed four times each";
  ASSERT_EQ(watch.analyzer.state().flaps.size(), 1U);
  EXPECT_EQ(watch.analyzer.state().flaps[0].flaps, 2U);
}

TEST_F(Flapping, ClearedCountersAreNoFlaps) {
  watch.fabric.set_counter(end, CounterId::kLinkDowned, 200);
  watch.sweeps(2);
  watch.fabric.set_counter(end, CounterId::kLinkDowned, 0);
  watch.sweeps(5);
  EXPECT_EQ(watch.analyzer.state().flaps[0].flaps, 200U) << "the 200 were seen, the reset added nothing";
}

TEST_F(Flapping, BringUpDoesNotCount) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 3, 4);
  const PortIndex port = fabric.port_towards("leaf-1", "spine-0");
  fabric.set_counter(port, CounterId::kLinkDowned, 77);
  Watch fresh(std::move(fabric));
  fresh.sweeps(3);
  fresh.fabric.rediscover();
  fresh.sweeps(3);
  EXPECT_TRUE(fresh.analyzer.state().flaps.empty());
}

TEST_F(Flapping, PlannedWorkDoesNotCount) {
  for (int i = 0; i < 5; ++i) {
    watch.fabric.unlink(end);
    watch.fabric.port(end).physical_state = PortPhysicalState::kDisabled;
    watch.sweeps(2);
    watch.fabric.relink(end);
    watch.sweeps(2);
  }
  EXPECT_TRUE(flaps().empty());
}

TEST_F(Flapping, OfARebootingSwitchIsNoFlapOfItsLinks) {
  const NodeIndex spine = watch.fabric.find("spine-1");
  for (int i = 0; i < 5; ++i) {
    watch.fabric.power_off(spine);
    watch.sweeps(3);
    watch.fabric.power_on(spine);
    watch.sweeps(3);
  }
  EXPECT_TRUE(flaps().empty()) << watch.describe();
}

TEST_F(Flapping, OnceADayTripsTheSlowLayerOnTheFifthDay) {
  for (int day = 1; day <= 5; ++day) {
    EXPECT_TRUE(flaps().empty()) << "day " << day;
    flap(1);
    if (day < 5) wait(hours(24));
  }
  EXPECT_EQ(flaps().size(), 1U) << watch.describe();
  wait(hours(24) * 3);
  EXPECT_EQ(flaps().size(), 1U) << "not forgotten at once";
  wait(hours(24) * 3);
  EXPECT_TRUE(flaps().empty()) << "but not condemned for ever";
}

TEST_F(Flapping, IsNotClosedByARestart) {
  flap(5);
  const Incident before = watch.only();
  const std::uint64_t saved = watch.analyzer.history_revision();
  EXPECT_GT(saved, 0U);
  watch.restart();
  watch.fabric.rediscover();
  watch.sweeps(20);
  EXPECT_EQ(watch.only().id, before.id);
  EXPECT_EQ(watch.only().occurrences, 1U);
  wait(hours(1));
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(Flapping, ThatStaysDownIsDownAsWell) {
  flap(5);
  watch.fabric.unlink(end);
  watch.sweeps(30);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkFlap);
  watch.sweeps(40);
  ASSERT_EQ(watch.open().size(), 2U) << watch.describe();
  EXPECT_EQ(watch.open()[0].finding.kind, IncidentKind::kLinkDown);
}

}  // namespace
}  // namespace weft::analyzer
