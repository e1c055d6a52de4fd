// SPDX-License-Identifier: Apache-2.0
// What Core does with what collectors tell.

#include "tests/unit/daemon/programs/weftd/core_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

HostPort active_port(std::string device) {
  HostPort port;
  port.device = std::move(device);
  port.number = 1;
  port.state = PortState::kActive;
  return port;
}

class CoreHosts : public CoreTest {
 protected:
  /// A collector says hello, and tells its ports in its first batch.
  void begin(std::vector<HostPort> ports) {
    core->hosts().hello(stream, {.host = "node-0", .spool = 1, .version = "1", .interval = 1s, .oldest_sequence = 0});
    HostBatch reading;
    reading.sequence = 1;
    auto inventory = std::make_shared<HostInventory>();
    inventory->ports = std::move(ports);
    reading.reading.emplace();
    reading.reading->taken = clock.time;
    reading.reading->inventory = inventory;
    core->hosts().batch(stream, std::move(reading), 0s);
  }
  /// It tells that the link of a port is down.
  void lose_link(std::uint64_t sequence, std::string device) {
    HostBatch event;
    event.sequence = sequence;
    LinkEvent& down = event.events.emplace_back();
    down.at = clock.time;
    down.device = std::move(device);
    down.port = 1;
    core->hosts().batch(stream, std::move(event), 0s);
    core->take_hosts();
  }
  std::shared_ptr<FakeStream> stream = std::make_shared<FakeStream>();
};

// A collector that is told "safe" sends it never again: what it led to must be on disk before.
TEST_F(CoreHosts, NoBatchIsAcknowledgedBeforeItsIncidentIsOnDisk) {
  start();
  begin({active_port("mlx5_0")});
  store.throws = true;
  lose_link(2, "mlx5_0");
  clock.time += 2s;
  core->tick();
  settle();
  EXPECT_EQ(store.copy_of_saved().size(), 0U);
  EXPECT_EQ(stream->acknowledged, 0U);
  store.throws = false;
  clock.time += 1s;
  core->tick();
  settle();
  EXPECT_EQ(store.copy_of_saved().size(), 1U);
  EXPECT_EQ(store.incidents_before_marks, 1);
  EXPECT_EQ(stream->acknowledged, 2U);
}

// Collectors leave a weftd that stores nothing of theirs for a minute, to look for another one.
TEST_F(CoreHosts, WhileTheDatabaseIsAwayCollectorsThatLeaveAreNotLost) {
  for (const bool is_held : {true, false}) {
    start();
    Leadership role;
    role.is_shared = true;
    core->show(role);
    begin({active_port("mlx5_0")});
    const auto pass = [&](int count) {
      for (int i = 0; i < count; ++i) {
        clock.time += 1s;
        core->tick();
        settle();
      }
    };
    const auto talk = [&](int count, std::uint64_t from) {
      for (int i = 0; i < count; ++i) {
        HostBatch batch;
        batch.sequence = from + static_cast<std::uint64_t>(i);
        core->hosts().batch(stream, std::move(batch), 0s);
        pass(1);
      }
    };
    talk(70, 2);
    role.is_held = is_held;
    core->show(role);
    talk(60, 72);
    core->hosts().gone(stream);
    pass(30);
    const Snapshot& now = *publication.load();
    EXPECT_EQ(now.incidents->size(), is_held ? 1U : 0U);
    stream = std::make_shared<FakeStream>();
  }
}

// Each write of incidents ends when the next one is due already.
TEST_F(CoreHosts, CollectorsAreAcknowledgedWhileIncidentsNeverCease) {
  start();
  constexpr std::uint16_t kPorts = 8;
  std::vector<HostPort> ports;
  for (std::uint16_t i = 0; i < kPorts; ++i) ports.push_back(active_port("mlx5_" + std::to_string(i)));
  begin(std::move(ports));
  const auto lose = [&](std::uint16_t i) { lose_link(2U + i, "mlx5_" + std::to_string(i)); };
  store.hold(true);
  lose(0);
  for (std::uint16_t i = 1; i < kPorts; ++i) {
    clock.time += 2s;
    lose(i);
    core->tick();
    store.hold(false);
    work_off();
    store.hold(true);
    run_posted();
    EXPECT_LE(stream->acknowledged, 1U + store.copy_of_saved().size()) << "of the first ones, in order";
  }
  EXPECT_GE(stream->acknowledged, 2U);
  store.hold(false);
  settle();
  EXPECT_EQ(store.copy_of_saved().size(), kPorts);
}

// A collector may tell of a port in the moment after the first sweep that knows it: both are one port, and one
// incident.
TEST_F(CoreHosts, AnEventRightAfterTheFirstSweepBlamesTheSweptLink) {
  start();
  core->add_fabric("test");
  const PortIndex adapter = fabric.port_of("host-1-0 mlx5_0", 1);
  HostPort port = active_port("mlx5_0");
  port.port_guid = fabric.ports()[adapter].guid;
  begin({port});
  core->tick();
  sweep(1);
  lose_link(2, "mlx5_0");
  settle();
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown().front().finding.cause.kind, EntityKind::kLink);
  EXPECT_EQ(shown().front().finding.cause.fabric, fabric.name());
}

}  // namespace
}  // namespace weft::daemon
