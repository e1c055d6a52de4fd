// SPDX-License-Identifier: Apache-2.0
// Two ports on one subnet: which one is watched, when the other one takes its place, and sweepers that do not end when
// they are asked to.

#include "daemon/programs/weftd/subnet_watchers.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <fstream>
#include <functional>

#include "daemon/programs/sweeper/frame.hpp"
#include "tests/unit/daemon/programs/weftd/core_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

// In the place of weft-sweeper: lists two ports; of each it sends the frames of a file, once nobody holds it back, and
// then is deaf.
constexpr const char* kDeafSweeper = R"(#!/bin/sh
cd "${0%/*}" || exit 1
if [ "$1" = --list ]; then
  printf 'mlx5_0:1\tInfiniBand\tActive\nmlx5_1:1\tInfiniBand\tActive\n'
  exit
fi
trap '' TERM
echo $$ >"$2.pid.new" && mv "$2.pid.new" "$2.pid"
while [ -e "$2.hold" ]; do sleep 0.05; done
cat "$2.frames" >&3
exec sleep 1000
)";
constexpr std::array<const char*, 2> kFabrics{"mlx5_0-1", "mlx5_1-1"};

class SubnetWatchersTest : public CoreTest {
 protected:
  SubnetWatchersTest() {
    char name[] = "/tmp/weft-watchers-XXXXXX";
    place = ::mkdtemp(name);
    config.state_dir = place / "state";
    config.infiniband.sweeper = place / "sweeper";
    std::ofstream(config.infiniband.sweeper) << kDeafSweeper;
    std::filesystem::permissions(config.infiniband.sweeper, std::filesystem::perms::owner_all);
    for (std::size_t i = 0; i < kFabrics.size(); ++i) {
      own[i] = fabric.key_of(fabric.port_of("host-" + std::to_string(i) + "-0 mlx5_0", 1));
      fabric.set_local_port(own[i]);
      write_sweep(kFabrics[i]);
    }
  }
  ~SubnetWatchersTest() override {
    for (const char* name : kFabrics)
      if (is_running(name)) ::kill(sweeper_of(name), SIGKILL);
    std::error_code ignored;
    std::filesystem::remove_all(place, ignored);
  }

  void write_sweep(const std::string& name) {
    std::ofstream file(place / (name + ".frames"), std::ios::binary);
    Sweep sweep = fabric.sweep();
    sweep.fabric = name;
    clock.time = sweep.finished;
    sweeper::FrameWriter writer([&file](std::span<const std::byte> piece) {
      file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
      return file.good();
    });
    ASSERT_TRUE(writer.write(sweep));
  }
  void hold(const std::string& name, bool on) {
    if (on)
      std::ofstream(place / (name + ".hold"));
    else
      std::filesystem::remove(place / (name + ".hold"));
  }
  /// A plan that holds a link of that fabric.
  Plan plan_in(const std::string& name, std::uint64_t id = 1) const {
    Plan plan;
    plan.id = id;
    plan.state = PlanState::kCommitted;
    plan.target.kind = EntityKind::kLink;
    plan.target.fabric = name;
    const PortIndex port = fabric.port_towards("leaf-1", "spine-0");
    plan.target.port = fabric.key_of(port);
    plan.target.peer = fabric.key_of(fabric.ports()[port].peer);
    plan.in_force = true;
    plan.actuator = "fake";
    plan.started = plan.finished = clock.time;
    return plan;
  }
  Incident incident_in(const std::string& name) const {
    Incident incident;
    incident.id = 1;
    incident.opened = incident.updated = clock.time;
    incident.finding.kind = IncidentKind::kLinkErrors;
    incident.finding.cause.kind = EntityKind::kLink;
    incident.finding.cause.fabric = name;
    const PortIndex port = fabric.port_towards("leaf-1", "spine-0");
    incident.finding.cause.port = fabric.key_of(port);
    incident.finding.cause.peer = fabric.key_of(fabric.ports()[port].peer);
    return incident;
  }
  /// The second port comes when the first one is watched; tells which one is watched in the end.
  std::string watched_when_the_second_comes(SubnetWatchers& watchers) {
    hold(kFabrics[1], true);
    watchers.start();
    EXPECT_TRUE(turn_until([&] { return core->is_watching(kFabrics[0]) && is_running(kFabrics[1]); }));
    hold(kFabrics[1], false);
    EXPECT_TRUE(turn_until([&] { return watchers.figures().size() == 1; }));
    const std::string name = watchers.figures().empty() ? "" : watchers.figures().begin()->first;
    EXPECT_TRUE(core->is_watching(name)) << name;
    return name;
  }
  void expect_watched(const std::string& fabric_name) {
    SubnetWatchers watchers(main, config, *core, *remedies, {});
    EXPECT_EQ(watched_when_the_second_comes(watchers), fabric_name);
    watchers.stop();
  }
  /// The next sweep of a fabric that is watched, through the first port.
  void sweep_first() {
    fabric.set_local_port(own[0]);
    Sweep next = fabric.sweep();
    next.fabric = kFabrics[0];
    clock.time = next.finished;
    core->take_sweep(std::move(next));
  }
  /// What the standby will see is `fabric` as it is now, and for a time that the tests do not wait it is looked for.
  bool standby_takes_its_place(SubnetWatchers& watchers) {
    fabric.set_local_port(own[1]);
    write_sweep(kFabrics[1]);
    return turn_until([&] { return core->is_watching(kFabrics[1]) && watchers.figures().size() == 2; });
  }
  pid_t sweeper_of(const std::string& name) const {
    pid_t pid = -1;
    std::ifstream(place / (name + ".pid")) >> pid;
    return pid;
  }
  bool is_running(const std::string& name) const {
    const pid_t pid = sweeper_of(name);
    return pid > 0 && ::kill(pid, 0) == 0;
  }
  bool turn_until(const std::function<bool()>& is_so) {
    for (const auto end = std::chrono::steady_clock::now() + 30s; !is_so();) {
      const auto began = std::chrono::steady_clock::now();
      if (began > end) return false;
      main.run_one_for(50ms);
      run_posted();
      longest_turn = std::max<Duration>(longest_turn, std::chrono::steady_clock::now() - began);
    }
    return true;
  }

  std::filesystem::path place;
  std::array<PortKey, 2> own;
  boost::asio::io_context main;
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stays_open{main.get_executor()};
  Duration longest_turn{};
};

TEST_F(SubnetWatchersTest, WithoutAnActivePortTheSnapshotSaysSoAndWhatToDo) {
  start();
  std::ofstream(config.infiniband.sweeper) << "#!/bin/sh\nprintf 'mlx5_0:1\\tInfiniBand\\tDown\\n'\n";
  SubnetWatchers watchers(main, config, *core, *remedies, {}, 50ms);
  watchers.start();
  const auto says = [this](const std::string& text) {
    core->tick();
    clock.time += 1s;
    const auto snapshot = publication.load();
    return snapshot != nullptr && snapshot->no_port.find(text) != std::string::npos;
  };
  EXPECT_TRUE(turn_until([&] { return says("no active InfiniBand port"); }));
  EXPECT_TRUE(says("infiniband.enabled = false"));
  std::ofstream(config.infiniband.sweeper) << kDeafSweeper;
  EXPECT_TRUE(turn_until([&] { return says("") && publication.load()->no_port.empty(); }));
  watchers.stop();
}

TEST_F(SubnetWatchersTest, AStandbyWhoseSweeperDoesNotEndHoldsNothingUp) {
  start();
  SubnetWatchers watchers(main, config, *core, *remedies, {});
  watchers.start();
  ASSERT_TRUE(turn_until([&] { return watchers.figures().size() == 2; }));
  ASSERT_TRUE(turn_until([&] { return watchers.figures().size() == 1; })) << "one of them is enough";
  const std::string kept = watchers.figures().begin()->first;
  const std::string standby = kept == kFabrics[0] ? kFabrics[1] : kFabrics[0];
  EXPECT_TRUE(core->is_watching(kept));
  EXPECT_FALSE(core->is_watching(standby));
  EXPECT_TRUE(turn_until([&] { return !is_running(standby); })) << "it is killed, and no zombie is left";
  EXPECT_LT(longest_turn, 1s) << "the standby's sweeper is not waited for";
  EXPECT_TRUE(is_running(kept));
  ::kill(sweeper_of(kept), SIGKILL);
  watchers.stop();
}

TEST_F(SubnetWatchersTest, StoppingEndsASweeperThatIsJustLeavingToo) {
  start();
  SubnetWatchers watchers(main, config, *core, *remedies, {});
  watchers.start();
  ASSERT_TRUE(turn_until([&] { return watchers.figures().size() == 2; }));
  ASSERT_TRUE(turn_until([&] { return watchers.figures().size() == 1; }));
  watchers.stop();
  for (const char* name : kFabrics) EXPECT_FALSE(is_running(name)) << name;
}

// The list of ports may take ten seconds.
TEST_F(SubnetWatchersTest, StopDoesNotWaitForAListOfPortsThatHangs) {
  start();
  std::ofstream(config.infiniband.sweeper, std::ios::trunc) << "#!/bin/sh\ntrap '' TERM\nexec sleep 1000\n";
  SubnetWatchers watchers(main, config, *core, *remedies, {});
  watchers.start();
  turn_until([until = std::chrono::steady_clock::now() + 500ms] { return std::chrono::steady_clock::now() > until; });
  const auto began = std::chrono::steady_clock::now();
  watchers.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST_F(SubnetWatchersTest, OfTwoPortsNobodyKnowsTheFirstIsWatched) {
  start();
  expect_watched(kFabrics[0]);
}

// The machine's second port trains first after a boot: a link that Weft took out must not be lost by that.
TEST_F(SubnetWatchersTest, ThePortWhoseLinksAPlanHoldsIsWatched) {
  RemedyMemory memory;
  for (const bool is_sure : {true, false}) {
    memory.plans = {plan_in(kFabrics[1])};
    memory.plans[0].in_force = is_sure;
    memory.plans[0].unresolved = !is_sure;
    memory.plans[0].state = is_sure ? PlanState::kCommitted : PlanState::kFailed;
    core.reset();
    start({}, memory);
    SubnetWatchers watchers(main, config, *core, *remedies, {});
    EXPECT_EQ(watched_when_the_second_comes(watchers), kFabrics[1]) << is_sure;
    EXPECT_FALSE(core->is_watching(kFabrics[0]));
    watchers.stop();
  }
}

TEST_F(SubnetWatchersTest, APlanThatLetItsLinkGoDoesNotDecide) {
  RemedyMemory memory;
  memory.plans = {plan_in(kFabrics[1])};
  memory.plans[0].in_force = false;
  start({}, memory);
  expect_watched(kFabrics[0]);
}

TEST_F(SubnetWatchersTest, WherePlansHoldLinksOfBothTheFirstStays) {
  RemedyMemory memory;
  memory.plans = {plan_in(kFabrics[0]), plan_in(kFabrics[1], 2)};
  start({}, memory);
  expect_watched(kFabrics[0]);
}

TEST_F(SubnetWatchersTest, ThePortThatAnOpenIncidentNamesIsWatched) {
  store::Restored restored;
  restored.incidents = {incident_in(kFabrics[1])};
  start(std::move(restored));
  expect_watched(kFabrics[1]);
}

TEST_F(SubnetWatchersTest, PlansWeighMoreThanIncidents) {
  store::Restored restored;
  restored.incidents = {incident_in(kFabrics[1])};
  RemedyMemory memory;
  memory.plans = {plan_in(kFabrics[0])};
  start(std::move(restored), memory);
  expect_watched(kFabrics[0]);
}

TEST_F(SubnetWatchersTest, TheStandbyTakesThePlaceOfAPortThatLostItsCable) {
  start();
  SubnetWatchers watchers(main, config, *core, *remedies, {}, 200ms);
  ASSERT_EQ(watched_when_the_second_comes(watchers), kFabrics[0]);
  fabric.unlink(fabric.port_of("host-0-0 mlx5_0", 1));
  for (NodeIndex node = 0; node < fabric.nodes().size(); ++node)  // it sees itself alone
    if (node != fabric.find("host-0-0 mlx5_0")) fabric.silence(node);
  sweep_first();
  ASSERT_TRUE(core->is_watching(kFabrics[0])) << "sweeps of itself go on";
  for (NodeIndex node = 0; node < fabric.nodes().size(); ++node) fabric.silence(node, false);
  EXPECT_TRUE(standby_takes_its_place(watchers));
  watchers.stop();
}

TEST_F(SubnetWatchersTest, AStandbyThatIsOnAnotherSubnetNowIsWatchedThere) {
  start();
  SubnetWatchers watchers(main, config, *core, *remedies, {}, 200ms);
  ASSERT_EQ(watched_when_the_second_comes(watchers), kFabrics[0]);
  fabric.power_off(fabric.find("host-1-0 mlx5_0"));
  sweep_first();
  const TimePoint now = fabric.now();
  fabric = fakes::FabricBuilder::fat_tree(1, 2, 4);
  fabric.advance(now - fabric.now());
  for (NodeIndex node = 0; node < fabric.nodes().size(); ++node) fabric.node(node).guid.value |= 0xB0000000000;
  own[1] = fabric.key_of(fabric.port_of("host-1-3 mlx5_0", 1));
  EXPECT_TRUE(standby_takes_its_place(watchers));
  watchers.stop();
}

TEST_F(SubnetWatchersTest, AStandbyThatIsSeenStaysOne) {
  start();
  SubnetWatchers watchers(main, config, *core, *remedies, {}, 100ms);
  ASSERT_EQ(watched_when_the_second_comes(watchers), kFabrics[0]);
  ASSERT_TRUE(turn_until([&] { return !is_running(kFabrics[1]); }));
  turn_until([until = std::chrono::steady_clock::now() + 1s] { return std::chrono::steady_clock::now() > until; });
  EXPECT_EQ(watchers.figures().size(), 1U);
  EXPECT_FALSE(is_running(kFabrics[1])) << "it was started again";
  watchers.stop();
}

/// It is out of order in the eyes of the first one only: whose sweeper asks, sees the first one's port.
class SilentStandby : public SubnetWatchersTest {
 protected:
  SilentStandby() {
    fabric.silence(fabric.find("host-1-0 mlx5_0"));
    fabric.advance(10s);
    fabric.set_local_port(own[0]);
    write_sweep(kFabrics[0]);
    fabric.silence(fabric.find("host-1-0 mlx5_0"), false);
    fabric.set_local_port(own[1]);
    write_sweep(kFabrics[1]);
    start();
  }
};

TEST_F(SilentStandby, IsNoSubnetOfItsOwn) {
  expect_watched(kFabrics[0]);
}

TEST_F(SilentStandby, IsNotStartedAgainWithEachLook) {
  SubnetWatchers watchers(main, config, *core, *remedies, {}, 100ms);
  ASSERT_EQ(watched_when_the_second_comes(watchers), kFabrics[0]);
  ASSERT_TRUE(turn_until([&] { return !is_running(kFabrics[1]); }));
  turn_until([until = std::chrono::steady_clock::now() + 1s] { return std::chrono::steady_clock::now() > until; });
  EXPECT_FALSE(is_running(kFabrics[1])) << "it was started again";
  watchers.stop();
}

// It may be on another subnet by then.
TEST_F(SilentStandby, IsAskedAgainAfterManyLooks) {
  SubnetWatchers watchers(main, config, *core, *remedies, {}, 10ms);
  ASSERT_EQ(watched_when_the_second_comes(watchers), kFabrics[0]);
  ASSERT_TRUE(turn_until([&] { return !is_running(kFabrics[1]); }));
  EXPECT_TRUE(turn_until([&] { return is_running(kFabrics[1]); }));
  watchers.stop();
}

TEST_F(SilentStandby, TakesThePlaceOfAPortThatLostItsCable) {
  SubnetWatchers watchers(main, config, *core, *remedies, {}, 100ms);
  ASSERT_EQ(watched_when_the_second_comes(watchers), kFabrics[0]);
  fabric.unlink(fabric.port_of("host-0-0 mlx5_0", 1));
  sweep_first();
  EXPECT_TRUE(standby_takes_its_place(watchers));
  watchers.stop();
}

TEST_F(SubnetWatchersTest, OnlyAPortThatWasReadLatelyAndIsUpAtBothEndsIsSeenUp) {
  const PortKey port = own[1];
  const NodeIndex host = fabric.find("host-1-0 mlx5_0"), leaf = fabric.find("leaf-1");
  const PortIndex near = fabric.port_of("host-1-0 mlx5_0", 1), far = fabric.ports()[near].peer;
  const auto is_seen = [&](PortKey key) { return sees_up(fabric.sweep(), key, 3s); };
  EXPECT_TRUE(is_seen(port));
  EXPECT_FALSE(is_seen({NodeGuid{1}, {1}})) << "nobody knows it";
  for (const NodeIndex node : {host, leaf}) {
    SCOPED_TRACE(fabric.nodes()[node].name);
    fabric.silence(node);
    EXPECT_FALSE(is_seen(port)) << "no way leads to it";
    fabric.node(node).reachable = true;
    fabric.advance(10s);
    EXPECT_EQ(is_seen(port), node == leaf) << "what the port said is old; a switch that hangs still carries it";
    fabric.silence(node, false);
    EXPECT_TRUE(is_seen(port));
    fabric.port(node == host ? near : far).state = PortState::kDown;
    EXPECT_FALSE(is_seen(port)) << "one end is down";
    fabric.port(node == host ? near : far).state = PortState::kActive;
  }
  fabric.port(near).peer = fabric.port(far).peer = kNoIndex;
  EXPECT_FALSE(is_seen(port)) << "it is on another subnet: no cable of this one is at it";
}

}  // namespace
}  // namespace weft::daemon
