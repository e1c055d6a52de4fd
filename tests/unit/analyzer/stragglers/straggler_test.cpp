// SPDX-License-Identifier: Apache-2.0
// STRAGGLER from the readings of collectors to the incident: who is blamed, and who is not.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/analyzer/stragglers/training_job.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

const Evidence* evidence_of(const Incident& incident, std::string_view signal) {
  const auto found = std::ranges::find(incident.finding.evidence, signal, &Evidence::signal);
  return found == incident.finding.evidence.end() ? nullptr : &*found;
}

/// From `from` on, `member` computes `times` as long.
auto slow(unsigned slow_member, double times, unsigned from = 10) {
  return [=](unsigned member, unsigned iteration) {
    return member == slow_member && iteration >= from ? 1.5 * times : 1.5;
  };
}

/// Sixteen hosts' adapters on a subnet.
struct Subnet {
  explicit Subnet(TrainingJob& job) {
    const Sweep sweep = fabric.sweep();
    unsigned host = 0;
    for (const Node& node : fabric.nodes())
      if (node.type == NodeType::kChannelAdapter)
        job.members[host++].inventory->ports[0].port_guid = sweep.topology->port(fabric.port_of(node.name, 1)).guid;
  }
  /// Its next sweep.
  void show(TrainingJob& job) {
    Sweep sweep = fabric.sweep();
    sweep.started = sweep.finished = job.clock(job.at);
    FabricView view;
    view.name = fabric.name();
    view.watching = true;
    view.sweep = std::make_shared<const Sweep>(std::move(sweep));
    job.analyzer.join({&view, 1});
  }
  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 4, 4);
};

TEST(Straggler, IsTheHostThatBeginsAfterTheOthersAndNotOneThatWaits) {
  TrainingJob job(16);
  job.computing = slow(5, 2);
  job.run(30);
  EXPECT_TRUE(job.blamed.empty()) << "nobody is slow yet";
  job.run(40);
  const auto open = job.open();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].finding.kind, IncidentKind::kStraggler);
  EXPECT_EQ(open[0].finding.severity, Severity::kWarning);
  EXPECT_EQ(open[0].finding.cause.kind, EntityKind::kHostPort);
  EXPECT_EQ(open[0].finding.cause.host, "node-5");
  EXPECT_EQ(open[0].finding.jobs, std::vector<std::string>{"slurm:7"});
  EXPECT_EQ(open[0].finding.summary,
            "node-5 is slower than the others of slurm:7: they wait for data from node-5 mlx5_0 port 1");
  const Evidence* const delay = evidence_of(open[0], "begins_late");
  ASSERT_TRUE(delay);
  EXPECT_GT(delay->value, 0.3);
  EXPECT_LE(delay->value, 1.5) << "more than it was";
  EXPECT_GT(delay->value, delay->threshold);
  EXPECT_GE(delay->threshold, 0.05);
  EXPECT_EQ(delay->unit, "s");
  EXPECT_EQ(delay->where.host, "node-5");
  const Evidence* const share = evidence_of(open[0], "waiting_share");
  ASSERT_TRUE(share);
  EXPECT_GT(share->value, 0.05);
  EXPECT_LT(share->value, 0.34) << "of 4.5 s of an iteration 1.5 are waiting";
}

TEST(Straggler, IsFoundWhereNoPortIsEverSilent) {
  TrainingJob job(16);
  for (unsigned i = 0; i < 16; ++i) job.members[i].storage = 50e6 + 5e6 * i;
  job.computing = slow(5, 2);
  job.run(30);
  EXPECT_TRUE(job.blamed.empty()) << "nobody is slow yet";
  job.run(60);
  const auto open = job.open();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].finding.kind, IncidentKind::kStraggler);
  EXPECT_EQ(open[0].finding.cause.host, "node-5");
}

// As a simulated subnet shows counters: what a member sends first is spread over a second, and so is the end of a
// transfer. A reading has any part of them.
TEST(Straggler, IsFoundWhereCountersMoveEvenlyFromSecondToSecond) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    TrainingJob job(8);
    job.shown_every = 1;
    job.transfer = 2.4;
    for (auto& member : job.members) member.interval = 0.5;
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.01);
    job.computing = [&](unsigned member, unsigned iteration) {
      return (member == 5 && iteration > 2 ? 10.8 : 3.6) * (1 + noise(random));
    };
    job.run(100);
    const auto open = job.open();
    ASSERT_EQ(open.size(), 1U) << seed;
    EXPECT_EQ(open[0].finding.kind, IncidentKind::kStraggler);
    EXPECT_EQ(open[0].finding.cause.host, "node-5");
  }
}

TEST(Straggler, IsNotReportedWhereBackgroundsComeAndGo) {
  TrainingJob job(16);
  job.computing = [](unsigned, unsigned) { return 3.5; };
  std::mt19937 random(11);
  for (int i = 0; i < 600; ++i) {
    TrainingJob::Member& member = job.members[random() % 16];
    member.storage = random() % 2 == 0 ? 0 : 50e6;
    job.run(1);
  }
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, EndsWhenTheHostIsWell) {
  TrainingJob job(16);
  job.computing = [](unsigned member, unsigned iteration) {
    return member == 5 && iteration >= 20 && iteration < 40 ? 3.0 : 1.5;
  };
  job.run(130);
  ASSERT_EQ(job.open().size(), 1U);
  job.run(150);
  EXPECT_TRUE(job.open().empty());
}

TEST(Straggler, SaysWhyWhereTheHostTellsOfIt) {
  TrainingJob job(16);
  job.computing = slow(5, 2);
  job.stalled = "node-5";
  job.run(70);
  ASSERT_EQ(job.open().size(), 1U);
  EXPECT_TRUE(evidence_of(job.open()[0], "pcie_write_stall"));
}

TEST(Straggler, OfAHostWithSeveralSlowPortsIsOneIncident) {
  TrainingJob job(16);
  // Two rails that move together: the second adapter counts what the first one does.
  for (auto& member : job.members) {
    HostPort second = member.inventory->ports[0];
    second.device = "mlx5_1";
    member.inventory->ports.push_back(second);
  }
  job.computing = slow(5, 2);
  job.run(70);
  EXPECT_EQ(job.open().size(), 1U);
}

TEST(Straggler, IsNotReportedWhereAllTakeEquallyLong) {
  TrainingJob job(32);
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 0.01);
  job.computing = [&](unsigned member, unsigned) { return 1.5 * (1 + noise(random) + (member == 3 ? 0.02 : 0)); };
  job.run(900);
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotReportedWhereTheLateMemberChanges) {
  TrainingJob job(16);
  std::mt19937 random(5);
  unsigned late = 0;
  unsigned of = 0;
  job.computing = [&](unsigned member, unsigned iteration) {
    if (iteration != of) late = static_cast<unsigned>(random() % 16);  // sequences of uneven length
    of = iteration;
    return member == late ? 3.0 : 1.5;
  };
  job.run(900);
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotAStageThatComesLaterByItsNature) {
  TrainingJob job(16);
  job.computing = [](unsigned member, unsigned) { return 1.5 + 0.1 * (member - member % 4); };  // four stages
  job.run(300);
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotAHostThatOnlyReceives) {
  TrainingJob job(16);
  job.run(10);
  // A reader of storage beside the others of the job: it is sent to and answers with nothing.
  TrainingJob::Member& reader = job.members[15];
  for (int i = 0; i < 300; ++i) {
    const double sent = reader.sent;
    job.run(1);
    reader.sent = sent + TrainingJob::kIdle;
  }
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotAHostThatWritesToStorageMeanwhile) {
  TrainingJob job(16);
  job.computing = slow(5, 1.5);  // it writes a checkpoint, and is seen to
  job.run(30);
  job.members[5].storage = 5e9;
  job.run(200);
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotReportedForTheWriterOfCheckpoints) {
  TrainingJob job(16);
  job.pause = [](unsigned iteration) { return iteration % 10 == 0 ? 8.0 : 0.0; };
  job.computing = [](unsigned member, unsigned iteration) {
    return member == 0 && iteration % 10 == 0 ? 4.5 : 1.5;  // and it is the last to be done with it
  };
  job.run(600);
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotAHostWhoseCollectorIsLateOrLosesReadings) {
  TrainingJob job(16);
  std::mt19937 random(7);
  job.run(20);
  for (int i = 0; i < 300; ++i) {
    job.members[5].late = i % 3 == 0 ? 1.4 : 0.01;
    job.members[6].is_silent = random() % 3 == 0;
    job.run(1);
  }
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsFoundBesideACollectorThatReadsSeldom) {
  for (const std::string of_job : {"slurm:99", "slurm:7"}) {
    SCOPED_TRACE(of_job);
    TrainingJob job(16);
    job.computing = slow(5, 2);
    HostBatch batch;
    HostReading& reading = batch.reading.emplace();
    reading.inventory = job.members[0].inventory;
    reading.values = {1, 1, 0, 0};
    reading.present.assign(reading.values.size(), 1);
    reading.jobs = {of_job};
    for (int i = 0; i < 5; ++i) {
      reading.taken = job.clock(job.at);
      job.analyzer.hear("elsewhere", 30s, job.clock(job.at));
      job.analyzer.take("elsewhere", batch);
      job.run(30);
    }
    EXPECT_EQ(job.open().size(), 1U);
  }
}

TEST(Straggler, IsFoundDespiteAClockThatWasSet) {
  TrainingJob job(16);
  job.run(30);
  for (const double set : {2.0, -2.0, 3600.0, -7200.0, 0.7}) {
    job.clock_set += set;
    job.run(40);
    EXPECT_TRUE(job.blamed.empty()) << "after a clock was set by " << set << " s";
  }
  const unsigned from = job.iteration;
  job.computing = slow(5, 2, from);
  job.run(40);
  EXPECT_FALSE(job.blamed.empty());
}

TEST(Straggler, IsNotReportedWhenAJobStartsOrEnds) {
  TrainingJob job(16);
  job.computing = [](unsigned member, unsigned iteration) {
    return iteration <= 1 ? 5.0 + 2.0 * member : 1.5;  // one after the other they come up
  };
  job.run(120);
  job.running = false;
  job.run(120);
  job.running = true;
  job.run(60);
  for (auto& member : job.members) member.jobs = {"slurm:8"};
  job.run(60);
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsForgottenWithItsJob) {
  TrainingJob job(16);
  job.computing = slow(5, 2);
  job.run(90);
  ASSERT_EQ(job.open().size(), 1U);
  job.running = false;
  for (auto& member : job.members) member.jobs.clear();
  job.run(30);
  EXPECT_TRUE(job.open().empty());
}

TEST(Straggler, IsNotBlamedOnTheNextJobOfTheHost) {
  TrainingJob job(16);
  job.computing = slow(5, 2);
  job.run(90);
  ASSERT_EQ(job.open().size(), 1U);
  job.running = false;
  for (auto& member : job.members) member.jobs = {"slurm:8"};
  for (int i = 0; i < 60; ++i) {
    job.run(1);
    EXPECT_TRUE(std::ranges::none_of(job.found, [](const Finding& finding) {
      return finding.kind == IncidentKind::kStraggler && finding.jobs.front() == "slurm:8";
    })) << i;
  }
  EXPECT_TRUE(job.open().empty());
}

TEST(Straggler, OfASmallCohortMustHaveKeptUpBefore) {
  TrainingJob always(5);
  always.computing = slow(2, 2, 0);
  always.run(120);
  EXPECT_TRUE(always.blamed.empty()) << "it may have another part in the work";
  TrainingJob later(5);
  later.computing = slow(2, 2, 20);
  later.run(140);
  ASSERT_FALSE(later.blamed.empty());
  EXPECT_EQ(later.blamed[0], "node-2 mlx5_0 port 1");
}

TEST(Straggler, IsNotTheNeighbourOfAHostThatIsAway) {
  TrainingJob job(16);
  job.run(30);
  job.members[5].is_dead = true;
  job.run(60);
  job.members[5].is_dead = false;
  job.run(30);
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotTheNeighbourOfAPortThatFlaps) {
  TrainingJob job(16);
  Subnet subnet(job);
  job.run(30);
  const PortIndex flapping = subnet.fabric.port_of("host-1-1 mlx5_0", 1);
  job.computing = slow(4, 2, 0);  // who sends to it first waits until it is there
  for (int i = 0; i < 40; ++i) {
    if (i % 2 == 0)
      subnet.fabric.unlink(flapping);
    else
      subnet.fabric.relink(flapping);
    subnet.show(job);
    job.run(2);
  }
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotReportedWhileAnotherHostOfTheJobStalls) {
  TrainingJob job(16);
  job.computing = slow(5, 2);
  job.stalled = "node-9";
  job.run(90);
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotReportedDuringADeadlock) {
  TrainingJob job(16);
  Subnet subnet(job);
  job.run(4);
  job.computing = slow(5, 2);
  for (int i = 0; i < 80; ++i) {
    subnet.show(job);
    std::vector<Finding> findings(1);
    findings[0].kind = IncidentKind::kDeadlock;
    job.analyzer.complete(subnet.fabric.name(), findings, job.clock(job.at));
    job.run(1);
  }
  EXPECT_TRUE(job.blamed.empty());
}

TEST(Straggler, IsNotReportedWhileSwitchLinksChange) {
  TrainingJob job(16);
  Subnet subnet(job);
  job.run(4);
  subnet.show(job);
  job.computing = slow(5, 2);
  // A flapping link sends packets other ways, or nowhere: that makes hosts late too.
  const PortIndex uplink = subnet.fabric.port_towards("leaf-0", "spine-0");
  for (int i = 0; i < 30; ++i) {
    if (i % 2 == 0)
      subnet.fabric.unlink(uplink);
    else
      subnet.fabric.relink(uplink);
    subnet.show(job);
    job.run(3);
  }
  EXPECT_TRUE(job.blamed.empty());
  job.run(60);
  EXPECT_FALSE(job.blamed.empty()) << "it rests again, and the host is as slow as ever";
}

TEST(Straggler, IsPartOfWhatMakesTheHostSlow) {
  TrainingJob job(16);
  Subnet subnet(job);
  job.computing = slow(5, 2);
  job.run(2);
  subnet.show(job);
  job.run(68);
  const auto open = job.open();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].finding.cause.kind, EntityKind::kPort) << "named as on its subnet";
  EXPECT_EQ(open[0].finding.cause.fabric, subnet.fabric.name());
  std::vector<Finding> slow_receiver(1);
  slow_receiver[0].kind = IncidentKind::kSlowReceiver;
  slow_receiver[0].cause = open[0].finding.cause;
  job.analyzer.complete(subnet.fabric.name(), slow_receiver, job.clock(job.at));
  EXPECT_TRUE(std::ranges::any_of(slow_receiver[0].evidence,
                                  [](const Evidence& evidence) { return evidence.signal == "begins_late"; }));
  job.judge();
  EXPECT_TRUE(
      std::ranges::none_of(job.found, [](const Finding& finding) { return finding.kind == IncidentKind::kStraggler; }));
  std::vector<Finding> nothing;
  job.analyzer.complete(subnet.fabric.name(), nothing, job.clock(job.at));
  job.judge();
  EXPECT_EQ(job.found.size(), 1U) << "a straggler of its own again";
}

}  // namespace
}  // namespace weft::analyzer
