// SPDX-License-Identifier: Apache-2.0
#include "api/convert/collectors.hpp"

#include <gtest/gtest.h>

#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

TEST(Collectors, SayWhereTheyAreAndHowFarBehind) {
  HostView view;
  view.host = "gpu-1";
  view.address = "192.0.2.7:4242";
  view.heard = kNow;
  v1::Collector collector;
  to_proto(view, collector);
  EXPECT_EQ(collector.address(), "192.0.2.7:4242");
  EXPECT_FALSE(collector.has_behind_seconds()) << "there was no reading, and that is not zero";
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow - std::chrono::seconds(90);
  view.reading = reading;
  to_proto(view, collector);
  EXPECT_EQ(collector.behind_seconds(), 90);
  view.heard = kNow - std::chrono::minutes(5);
  to_proto(view, collector);
  EXPECT_EQ(collector.behind_seconds(), 0) << "a clock that was set back makes no negative age";
}

TEST(Collectors, TellAnotherShardOfPortsThatAreUpNow) {
  auto inventory = std::make_shared<HostInventory>();
  for (const auto& [device, guid, state] : {std::tuple{"mlx5_0", 0x77U, PortState::kActive},
                                            {"mlx5_1", 0x78U, PortState::kDown},
                                            {"eth2", 0U, PortState::kActive}}) {
    HostPort& port = inventory->ports.emplace_back();
    port.device = device;
    port.port_guid = PortGuid{guid};
    port.state = state;
  }
  auto view = std::make_shared<HostView>();
  view->host = "gpu-1";
  view->since = kNow;
  auto reading = std::make_shared<HostReading>();
  reading->inventory = inventory;
  view->reading = reading;
  auto incidents = std::make_shared<std::vector<std::shared_ptr<const Incident>>>();
  for (const auto& [host, device, kind, state] :
       {std::tuple{"gpu-1", "mlx5_1", IncidentKind::kLinkDown, IncidentState::kOpen},
        {"gpu-1", "mlx5_2", IncidentKind::kLinkDown, IncidentState::kResolved},
        {"gpu-1", "mlx5_3", IncidentKind::kLinkFlap, IncidentState::kOpen},
        {"gpu-10", "mlx5_4", IncidentKind::kLinkDown, IncidentState::kOpen}}) {
    Incident incident;
    incident.state = state;
    incident.finding.kind = kind;
    incident.finding.cause.kind = EntityKind::kHostPort;
    incident.finding.cause.host = host;
    incident.finding.cause.device = device;
    incidents->push_back(std::make_shared<const Incident>(incident));
  }
  const auto told = [&](bool is_late, TimePoint at) {
    view->is_late = is_late;
    view->told = at;
    Snapshot snapshot;
    snapshot.incidents = incidents;
    snapshot.hosts = std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(
        std::vector<std::shared_ptr<const HostView>>{std::make_shared<const HostView>(*view)});
    v1::ListCollectorsRequest request;
    request.set_lost(true);
    return heard_there(list_collectors(snapshot, request)->collectors(0)).ports;
  };
  EXPECT_EQ(told(false, kNow).active, (std::vector<std::string>{"mlx5_0 0", "eth2 0"})) << "Ethernet has no node GUID";
  EXPECT_EQ(told(false, kNow).active_guids, std::vector{PortGuid{0x77}});
  EXPECT_EQ(told(false, kNow).reported_down, std::vector<std::string>{"mlx5_1 0"});
  EXPECT_TRUE(told(true, kNow).active.empty()) << "it waited";
  EXPECT_TRUE(told(false, kNow - std::chrono::seconds(1)).active.empty()) << "it was read before it connected";
}

TEST(Collectors, AreFoundByTheJobThatHoldsTheirHost) {
  auto snapshot = std::make_shared<Snapshot>();
  auto hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>();
  for (const auto& [name, job] : {std::pair{"gpu-1", "slurm:1234"}, {"gpu-2", "slurm:123"}, {"gpu-3", "slurm:1234"}}) {
    auto reading = std::make_shared<HostReading>();
    reading->jobs = {job};
    auto view = std::make_shared<HostView>();
    view->host = name;
    view->reading = reading;
    hosts->push_back(view);
  }
  auto silent = std::make_shared<HostView>();
  silent->host = "gpu-4";
  hosts->push_back(silent);
  snapshot->hosts = hosts;
  const auto found = [&](const std::string& job) {
    v1::ListCollectorsRequest request;
    request.set_job(job);
    std::string names;
    const auto listed = list_collectors(*snapshot, request);
    for (const v1::Collector& each : listed->collectors()) names += each.host() + ' ';
    return names;
  };
  EXPECT_EQ(found("slurm:1234"), "gpu-1 gpu-3 ");
  EXPECT_EQ(found("1234"), "gpu-1 gpu-3 ");
  EXPECT_EQ(found("12"), "") << "that is another job";
  EXPECT_EQ(found(""), "gpu-1 gpu-2 gpu-3 gpu-4 ");
}

}  // namespace
}  // namespace weft::api
