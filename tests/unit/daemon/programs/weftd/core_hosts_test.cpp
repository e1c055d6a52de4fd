// SPDX-License-Identifier: Apache-2.0
// What Core does with what collectors tell.

#include "tests/unit/daemon/programs/weftd/core_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

// A collector that is told "safe" sends it never again: what it led to must be on disk before.
TEST_F(CoreTest, NoBatchIsAcknowledgedBeforeItsIncidentIsOnDisk) {
  start();
  const auto stream = std::make_shared<FakeStream>();
  core->hosts().hello(stream, {.host = "node-0", .spool = 1, .version = "1", .interval = 1s, .oldest_sequence = 0});
  HostBatch reading;
  reading.sequence = 1;
  auto inventory = std::make_shared<HostInventory>();
  HostPort& port = inventory->ports.emplace_back();
  port.device = "mlx5_0";
  port.number = 1;
  port.state = PortState::kActive;
  reading.reading.emplace();
  reading.reading->taken = clock.time;
  reading.reading->inventory = inventory;
  core->hosts().batch(stream, std::move(reading), 0s);
  HostBatch event;
  event.sequence = 2;
  LinkEvent& down = event.events.emplace_back();
  down.at = clock.time;
  down.device = "mlx5_0";
  down.port = 1;
  store.throws = true;
  core->hosts().batch(stream, std::move(event), 0s);
  core->take_hosts();
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

// Each write of incidents ends when the next one is due already.
TEST_F(CoreTest, CollectorsAreAcknowledgedWhileIncidentsNeverCease) {
  start();
  constexpr std::uint16_t kPorts = 8;
  const auto stream = std::make_shared<FakeStream>();
  core->hosts().hello(stream, {.host = "node-0", .spool = 1, .version = "1", .interval = 1s, .oldest_sequence = 0});
  auto inventory = std::make_shared<HostInventory>();
  for (std::uint16_t i = 0; i < kPorts; ++i) {
    HostPort& port = inventory->ports.emplace_back();
    port.device = "mlx5_" + std::to_string(i);
    port.number = 1;
    port.state = PortState::kActive;
  }
  HostBatch reading;
  reading.sequence = 1;
  reading.reading.emplace();
  reading.reading->taken = clock.time;
  reading.reading->inventory = inventory;
  core->hosts().batch(stream, std::move(reading), 0s);
  const auto lose_link = [&](std::uint16_t i) {
    HostBatch event;
    event.sequence = 2U + i;
    LinkEvent& down = event.events.emplace_back();
    down.at = clock.time;
    down.device = "mlx5_" + std::to_string(i);
    down.port = 1;
    core->hosts().batch(stream, std::move(event), 0s);
    core->take_hosts();
  };
  store.hold(true);
  lose_link(0);
  for (std::uint16_t i = 1; i < kPorts; ++i) {
    clock.time += 2s;
    lose_link(i);
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
TEST_F(CoreTest, AnEventRightAfterTheFirstSweepBlamesTheSweptLink) {
  start();
  core->add_fabric("test");
  const PortIndex adapter = fabric.port_of("host-1-0 mlx5_0", 1);
  const auto stream = std::make_shared<FakeStream>();
  core->hosts().hello(stream, {.host = "node-0", .spool = 1, .version = "1", .interval = 1s, .oldest_sequence = 0});
  HostBatch reading;
  reading.sequence = 1;
  auto inventory = std::make_shared<HostInventory>();
  HostPort& port = inventory->ports.emplace_back();
  port.device = "mlx5_0";
  port.number = 1;
  port.port_guid = fabric.ports()[adapter].guid;
  port.state = PortState::kActive;
  reading.reading.emplace();
  reading.reading->taken = clock.time;
  reading.reading->inventory = inventory;
  core->hosts().batch(stream, std::move(reading), 0s);
  core->tick();
  sweep(1);
  HostBatch event;
  event.sequence = 2;
  LinkEvent& down = event.events.emplace_back();
  down.at = clock.time;
  down.device = "mlx5_0";
  down.port = 1;
  core->hosts().batch(stream, std::move(event), 0s);
  core->take_hosts();
  settle();
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown().front().finding.cause.kind, EntityKind::kLink);
  EXPECT_EQ(shown().front().finding.cause.fabric, fabric.name());
}

}  // namespace
}  // namespace weft::daemon
