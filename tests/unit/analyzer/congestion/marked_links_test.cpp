// SPDX-License-Identifier: Apache-2.0
// Congestion of an Ethernet fabric on which nothing is paused: marks and notifications are all there is to see.
#include <algorithm>

#include "tests/unit/analyzer/ethernet_watch.hpp"

namespace weft::analyzer {
namespace {

constexpr double kMarked = 0.03;      ///< share of the packets that leave by a full port
constexpr double kNotified = 10'000;  ///< per second

class MarkedLinks : public ::testing::Test {
 protected:
  explicit MarkedLinks(const CablePlan& plan = small_plan()) : watch(plan) {
    for (auto& [name, host] : watch.told.hosts)
      for (const char* series : {"ecn_marked_packets", "cnp_sent", "cnp_handled"}) host.add_series(series, "eth2");
  }
  /// One second of a host: what it sends and receives of its rate, the share of that which is marked, and how often a
  /// second it is notified.
  void host(const std::string& name, double sent, double received, double marked, double notified) {
    watch.load(name, sent, received);
    ToldHost& teller = watch.told.host(name);
    teller.value("ecn_marked_packets", "eth2") +=
        static_cast<std::uint64_t>(marked * received * ToldHost::kRate / 8 / 4096);
    teller.value("cnp_handled", "eth2") += static_cast<std::uint64_t>(notified);
  }
  /// One second of a switch's port: what it sends and receives of its rate.
  void port(const std::string& name, const std::string& interface, double sent, double received) {
    ToldHost& teller = watch.told.host(name);
    const auto bytes = [](double share) { return static_cast<std::uint64_t>(share * ToldHost::kRate / 8); };
    teller.value("transmit_bytes", interface) += bytes(sent);
    teller.value("transmit_packets", interface) += bytes(sent) / 4096;
    teller.value("receive_bytes", interface) += bytes(received);
    teller.value("receive_packets", interface) += bytes(received) / 4096;
  }
  /// gpu-01, gpu-02 and gpu-03 send to gpu-04.
  void incast(double marked = kMarked, double notified = kNotified, double full = 0.97) {
    for (const char* sender : {"gpu-01", "gpu-02", "gpu-03"}) host(sender, full / 3, 0.01, 0, notified);
    host("gpu-04", 0.01, full, marked, 0);
    watch.step();
  }
  void quiet(unsigned seconds) {
    for (unsigned i = 0; i < seconds; ++i) incast(0, 0, 0.3);
  }
  const Evidence* evidence(const Incident& incident, const char* signal) {
    const auto found = std::ranges::find(incident.finding.evidence, signal, &Evidence::signal);
    return found == incident.finding.evidence.end() ? nullptr : &*found;
  }
  EthernetWatch watch;
};

TEST_F(MarkedLinks, SeveralNotifiedSendersIntoOneInterfaceAreAnIncast) {
  quiet(5);
  for (int second = 0; second < 3; ++second) incast();
  EXPECT_TRUE(watch.open().empty()) << "a burst\n" << watch.describe();
  for (int second = 0; second < 5; ++second) incast();
  const Incident found = watch.only();
  EXPECT_EQ(found.finding.kind, IncidentKind::kCongestionIncast) << watch.describe();
  EXPECT_NE(found.finding.cause.label.find("gpu-04 eth2"), std::string::npos) << found.finding.cause.label;
  EXPECT_EQ(found.finding.affected.size(), 3U) << watch.describe();
  EXPECT_LT(found.finding.confidence, 0.9) << "pauses would tell more";
  ASSERT_TRUE(evidence(found, "marked"));
  EXPECT_NEAR(evidence(found, "marked")->value, kMarked, 0.001);
  ASSERT_TRUE(evidence(found, "notified"));
  EXPECT_NEAR(evidence(found, "notified")->value, kNotified * 55e-6 * (1 - 0.97 / 3), 0.01);
  EXPECT_FALSE(evidence(found, "victim_wait")) << "nobody was paused";
  quiet(30);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(MarkedLinks, AFullLinkWithoutMarksIsBusy) {
  quiet(5);
  for (int second = 0; second < 30; ++second) incast(1e-4);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(MarkedLinks, MarksWithoutAFullLinkAreBursts) {
  quiet(5);
  for (int second = 0; second < 30; ++second) incast(kMarked, kNotified, 0.7);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(MarkedLinks, MarksThatSlowNobodyDownDoNoHarm) {
  quiet(5);
  for (int second = 0; second < 30; ++second) incast(kMarked, 100);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(MarkedLinks, AHostWhoseCollectorIsSilentTellsNothing) {
  quiet(5);
  watch.told.host("gpu-04").view().state = CollectorState::kSilent;
  for (int second = 0; second < 30; ++second) incast();
  EXPECT_TRUE(std::ranges::none_of(watch.open(), [](const Incident& one) {
    return one.finding.kind == IncidentKind::kCongestionIncast;
  })) << watch.describe();
}

class MarkedLinksOfALeaf : public MarkedLinks {
 protected:
  MarkedLinksOfALeaf()
      : MarkedLinks(plan_of({{"leaf01", "swp1", "gpu-01", "eth2"},
                             {"leaf01", "swp2", "gpu-02", "eth2"},
                             {"leaf01", "swp3", "gpu-03", "eth2"},
                             {"leaf01", "swp4", "gpu-04", "eth2"},
                             {"leaf01", "swp5", "gpu-05", "eth2"},
                             {"leaf01", "swp6", "gpu-06", "eth2"}})) {}
};

TEST_F(MarkedLinksOfALeaf, TwoReceiversAtOnceAreTwoIncidents) {
  watch.seconds(5);
  for (int second = 0; second < 20; ++second) {
    for (const char* sender : {"gpu-01", "gpu-02", "gpu-03", "gpu-04"}) host(sender, 0.485, 0.01, 0, kNotified);
    for (const char* receiver : {"gpu-05", "gpu-06"}) host(receiver, 0.01, 0.97, kMarked, 0);
    watch.step();
  }
  EXPECT_EQ(watch.open().size(), 2U) << watch.describe();
}

class MarkedLinksOfTwoLeaves : public MarkedLinks {
 protected:
  MarkedLinksOfTwoLeaves()
      : MarkedLinks(plan_of({{"leaf01", "swp1", "gpu-01", "eth2"},
                             {"leaf01", "swp2", "gpu-02", "eth2"},
                             {"leaf01", "swp3", "gpu-03", "eth2"},
                             {"leaf01", "swp4", "gpu-04", "eth2"},
                             {"leaf01", "swp5", "gpu-05", "eth2"},
                             {"leaf01", "swp6", "gpu-06", "eth2"},
                             {"leaf02", "swp1", "gpu-07", "eth2"},
                             {"leaf01", "swp51", "spine01", "swp1"},
                             {"leaf02", "swp51", "spine01", "swp2"}})) {}
};

TEST_F(MarkedLinksOfTwoLeaves, APausedHostElsewhereHidesNoMarks) {
  watch.seconds(5);
  for (int second = 0; second < 20; ++second) {
    for (const char* sender : {"gpu-01", "gpu-02", "gpu-03", "gpu-04"}) host(sender, 0.485, 0.01, 0, kNotified);
    for (const char* receiver : {"gpu-05", "gpu-06"}) host(receiver, 0.01, 0.97, kMarked, 0);
    watch.load("gpu-07", 0.3, 0.01, 0.2);
    watch.step();
  }
  for (const char* receiver : {"gpu-05", "gpu-06"})
    EXPECT_TRUE(std::ranges::any_of(
        watch.open(),
        [&](const Incident& incident) { return incident.finding.cause.label.find(receiver) != std::string::npos; }))
        << receiver << '\n'
        << watch.describe();
}

/// Collectors on all switches; flows from gpu-01 and gpu-02 to gpu-03 and gpu-04 take one uplink of leaf01.
class MarkedUplinks : public MarkedLinks {
 protected:
  MarkedUplinks() {
    for (const char* name : {"leaf01", "leaf02", "spine01", "spine02"}) watch.told.add(watch.plan, name);
  }
  void tell_marks(const char* node, const char* interface) {
    watch.told.host(node).add_series("ecn_marks_made", interface);
  }
  void collision(double own_marks = 0) {
    for (const char* sender : {"gpu-01", "gpu-02"}) host(sender, 0.485, 0.01, 0, kNotified);
    for (const char* receiver : {"gpu-03", "gpu-04"}) host(receiver, 0.01, 0.485, kMarked, 0);
    for (const char* access : {"swp1", "swp2"}) {
      port("leaf01", access, 0.01, 0.485);
      port("leaf02", access, 0.485, 0.01);
    }
    port("leaf01", "swp51", 0.97, 0.01);
    port("spine01", "swp1", 0.01, 0.97);
    port("spine01", "swp2", 0.97, 0.01);
    port("leaf02", "swp51", 0.01, 0.97);
    for (const auto& [name, interface] :
         {std::pair("leaf01", "swp52"), {"spine02", "swp1"}, {"spine02", "swp2"}, {"leaf02", "swp52"}})
      port(name, interface, 0.01, 0.01);
    if (own_marks > 0)
      watch.told.host("leaf01").value("ecn_marks_made", "swp51") +=
          static_cast<std::uint64_t>(own_marks * 0.97 * ToldHost::kRate / 8 / 4096);
    watch.step();
  }
};

TEST_F(MarkedUplinks, AFullUplinkBehindWhichHostsReceiveMarksIsUnevenLoad) {
  watch.seconds(3);
  for (int second = 0; second < 20; ++second) collision();
  const Incident found = watch.only();
  EXPECT_EQ(found.finding.kind, IncidentKind::kCongestionUnevenLoad) << watch.describe();
  EXPECT_NE(found.finding.cause.label.find("spine01"), std::string::npos) << found.finding.cause.label;
  EXPECT_LE(found.finding.confidence, 0.6) << "hosts do not know which link marked";
}

TEST_F(MarkedUplinks, ASwitchesOwnCounterSaysWhichLinkMarks) {
  tell_marks("leaf01", "swp51");
  tell_marks("spine01", "swp2");
  watch.seconds(3);
  for (int second = 0; second < 20; ++second) collision(kMarked);
  const Incident found = watch.only();
  EXPECT_EQ(found.finding.kind, IncidentKind::kCongestionUnevenLoad) << watch.describe();
  EXPECT_NE(found.finding.cause.label.find("leaf01 swp51"), std::string::npos) << found.finding.cause.label;
  EXPECT_GT(found.finding.confidence, 0.6);
}

TEST_F(MarkedUplinks, AFullLinkThatMarksNothingIsBusy) {
  tell_marks("leaf01", "swp51");
  tell_marks("spine01", "swp2");
  watch.seconds(3);
  for (int second = 0; second < 20; ++second) collision(1e-4);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

}  // namespace
}  // namespace weft::analyzer
