// SPDX-License-Identifier: Apache-2.0
#include "api/convert/health.hpp"

#include <gtest/gtest.h>

#include "api/convert/incidents.hpp"
#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

// Two spines, three leaves of two hosts, routed; every host is healthy.
class Schedulers : public ::testing::Test {
 protected:
  Schedulers() : fabric(fakes::FabricBuilder::fat_tree(2, 3, 2)) {
    fabric.route();
    for (const Node& node : fabric.nodes()) {
      const std::string name(host_name(node));
      health.push_back(make_health(name, node.guid.value, HealthVerdict::kHealthy));
      health.back().fabric = fabric.name();
    }
    std::ranges::sort(health, {}, &NodeHealth::node);
  }
  NodeHealth& of(const std::string& name) { return *std::ranges::find(health, name, &NodeHealth::node); }
  Snapshot snapshot() {
    FabricView view;
    view.name = fabric.name();
    Sweep sweep = fabric.sweep();
    if (!routed) sweep.routes = nullptr;
    view.sweep = std::make_shared<const Sweep>(std::move(sweep));
    Snapshot result;
    result.fabrics.push_back(std::move(view));
    result.health = std::make_shared<const std::vector<NodeHealth>>(health);
    result.incidents = std::make_shared<const std::vector<std::shared_ptr<const Incident>>>(incidents);
    result.hosts = std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(hosts);
    return result;
  }
  void holds(const std::string& host, std::vector<std::string> jobs) {
    auto reading = std::make_shared<HostReading>();
    reading->jobs = std::move(jobs);
    auto view = std::make_shared<HostView>();
    view->host = host;
    view->reading = std::move(reading);
    hosts.push_back(std::move(view));
  }
  void blame(IncidentKind kind, PortIndex end, std::uint64_t maintenance = 0) {
    auto incident = std::make_shared<Incident>();
    const LinkKey link = fabric.link_of(end);
    incident->id = incidents.size() + 1;
    incident->finding.kind = kind;
    incident->finding.cause = {EntityKind::kLink, fabric.name(), link.low, link.high, "it"};
    incident->finding.summary = "a bad link";
    incident->finding.maintenance = maintenance;
    incidents.push_back(incident);
  }
  Result<v1::BatchGetHealthResponse> batch(const std::vector<std::string>& names) {
    v1::BatchGetHealthRequest request;
    for (const std::string& name : names) request.add_nodes(name);
    return batch_get_health(snapshot(), request);
  }
  Result<v1::JobHealth> job(const std::string& name, const std::vector<std::string>& nodes = {}) {
    v1::GetJobHealthRequest request;
    request.set_job(name);
    for (const std::string& node : nodes) request.add_nodes(node);
    return get_job_health(snapshot(), request);
  }
  /// The spine that leaf-0 sends to this host over.
  std::string spine_towards(const std::string& host) {
    const auto egress = fabric.routes()->egress(fabric.find("leaf-0"), fabric.lid_of(host + " mlx5_0"));
    const PortIndex peer = fabric.ports()[fabric.port_of("leaf-0", egress->value)].peer;
    return fabric.nodes()[fabric.ports()[peer].node].name;
  }

  fakes::FabricBuilder fabric;
  bool routed = true;
  std::vector<NodeHealth> health;
  std::vector<std::shared_ptr<const Incident>> incidents;
  std::vector<std::shared_ptr<const HostView>> hosts;
};

TEST_F(Schedulers, WhatWasNeverReadHasNoAge) {
  of("host-1-0").data_age = Duration::max();
  of("host-2-1").data_age = std::chrono::seconds(3);
  const auto answer = batch({"host-1-0", "host-2-1"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->nodes(0).has_data_age());
  EXPECT_EQ(answer->nodes(1).data_age().seconds(), 3);
  v1::NodeHealth alone;
  to_proto(of("host-1-0"), alone);
  EXPECT_FALSE(alone.has_data_age());
}

TEST_F(Schedulers, WhatWasNotReadIsAReasonWithoutAnIncident) {
  of("host-1-0").verdict = HealthVerdict::kUnknown;
  of("host-1-0").reasons.push_back({.message = "no recent reading of host-1-0 mlx5_0", .ports = {}});
  const auto answer = batch({"host-1-0"});
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->nodes(0).reasons_size(), 1);
  const v1::HealthReason& reason = answer->nodes(0).reasons(0);
  EXPECT_EQ(reason.incident_id() + reason.maintenance_id(), "");
  EXPECT_EQ(reason.kind(), v1::Incident::KIND_UNSPECIFIED);
  EXPECT_EQ(reason.message(), "no recent reading of host-1-0 mlx5_0");
}

TEST_F(Schedulers, ManyNodesInTheOrderAskedUnknownForTheNeverSeen) {
  of("host-1-0").verdict = HealthVerdict::kDegraded;
  of("host-1-0").reasons.push_back({.incident = 17, .message = "it flaps", .ports = {}});
  const std::string guid = to_string(fabric.nodes()[fabric.find("host-0-1 mlx5_0")].guid);
  const auto answer = batch({"host-2-1", "nobody", "host-1-0", "host-1-0 mlx5_0", guid, "leaf-1", "host-1-0"});
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->nodes_size(), 7);
  EXPECT_EQ(answer->nodes(0).verdict(), v1::NodeHealth::HEALTHY);
  EXPECT_EQ(answer->nodes(1).node(), "nobody");
  EXPECT_EQ(answer->nodes(1).verdict(), v1::NodeHealth::UNKNOWN);
  EXPECT_FALSE(answer->nodes(1).has_data_age());
  for (const int degraded : {2, 3, 6}) {
    EXPECT_EQ(answer->nodes(degraded).verdict(), v1::NodeHealth::DEGRADED) << degraded;
    ASSERT_EQ(answer->nodes(degraded).reasons_size(), 1);
    EXPECT_EQ(answer->nodes(degraded).reasons(0).incident_id(), "INC-17");
  }
  EXPECT_EQ(answer->nodes(3).node(), "host-1-0 mlx5_0") << "under the name asked for";
  EXPECT_EQ(answer->nodes(4).verdict(), v1::NodeHealth::HEALTHY) << "a GUID is a name";
  EXPECT_EQ(answer->nodes(5).verdict(), v1::NodeHealth::HEALTHY) << "so is a switch's";
}

TEST_F(Schedulers, BeforeTheFirstPictureEverythingIsUnknown) {
  v1::BatchGetHealthRequest request;
  request.add_nodes("host-0-0");
  const auto answer = batch_get_health(Snapshot{}, request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->nodes(0).verdict(), v1::NodeHealth::UNKNOWN);
}

TEST_F(Schedulers, BulkQuestionsAndTheirAnswersAreBounded) {
  EXPECT_EQ(batch(std::vector<std::string>(kMostHealthNames + 1, "host-0-0")).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(batch({std::string(kMostHealthNameBytes + 1, 'x')}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(batch({"host-0-0", ""}).error().code, ErrorCode::kInvalidArgument);
  NodeHealth& worst = of("host-0-0");
  worst.verdict = HealthVerdict::kUnhealthy;
  for (std::uint64_t id = 1; id <= 20; ++id)
    worst.reasons.push_back({.incident = id, .message = std::string(200, 'x'), .ports = {}});
  const auto answer = batch(std::vector<std::string>(10'000, "host-0-0"));
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->nodes_size(), 10'000);
  EXPECT_LT(answer->ByteSizeLong(), 4'000'000U) << "what a gRPC client takes";
  EXPECT_EQ(answer->nodes(0).reasons_size(), 20);
  EXPECT_EQ(answer->nodes(9'999).verdict(), v1::NodeHealth::UNHEALTHY) << "verdicts are never left out";
  EXPECT_EQ(answer->nodes(9'999).reasons_left_out(), 20U);
}

TEST_F(Schedulers, AJobIsFoundByItsCollectorsUnderBothNames) {
  holds("host-0-0", {"slurm:12"});
  holds("host-1-0", {"kubernetes:ab", "slurm:12"});
  holds("host-1-1", {"slurm:123"});
  for (const char* name : {"slurm:12", "12"}) {
    const auto answer = job(name);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->nodes_size(), 2);
    EXPECT_EQ(answer->nodes(0).node(), "host-0-0");
    EXPECT_EQ(answer->verdict(), v1::NodeHealth::HEALTHY);
    EXPECT_EQ(answer->paths(), 2U);
    EXPECT_EQ(answer->broken(), 0U);
    EXPECT_GE(answer->links_used(), 4U);
  }
  EXPECT_EQ(job("1").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(job("").error().code, ErrorCode::kInvalidArgument);
}

TEST_F(Schedulers, AHostThatDidNotReportSinceARestartIsStillTheJobs) {
  holds("host-0-0", {"train-1"});
  auto silent = std::make_shared<HostView>();
  silent->host = "host-1-0";
  silent->batches = 7;
  silent->jobs_before = {"train-1"};
  hosts.push_back(silent);
  of("host-1-0").verdict = HealthVerdict::kUnknown;
  const auto answer = job("train-1");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->nodes_size(), 2);
  EXPECT_EQ(answer->nodes(1).node(), "host-1-0");
  EXPECT_EQ(answer->verdict(), v1::NodeHealth::UNKNOWN);
  EXPECT_EQ(answer->not_followed_size(), 0);
}

TEST_F(Schedulers, AHostThatAnIncidentOfTheJobIsAboutIsTheJobsUnlessItSaysOtherwise) {
  holds("host-0-0", {"train-1"});
  const PortIndex end = fabric.port_towards("leaf-1", "host-1-0 mlx5_0");
  blame(IncidentKind::kLinkDown, end);
  auto incident = std::make_shared<Incident>(*incidents.back());
  incident->finding.jobs = {"train-1"};
  incidents.back() = incident;
  of("host-1-0").verdict = HealthVerdict::kUnhealthy;
  auto answer = job("train-1");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->nodes_size(), 2) << "the leaf is no host";
  EXPECT_EQ(answer->nodes(1).node(), "host-1-0");
  EXPECT_EQ(answer->verdict(), v1::NodeHealth::UNHEALTHY);
  holds("host-1-0", {"train-2"});  // the job has left it
  answer = job("train-1");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->nodes_size(), 1);
  hosts.pop_back();
  incident->state = IncidentState::kResolved;
  EXPECT_EQ(job("train-1")->nodes_size(), 1);
}

TEST_F(Schedulers, NoJobIsHealthyWhileTheJobsOfAHostAreNotKnown) {
  holds("host-0-0", {"train-1"});
  auto older = std::make_shared<HostView>();  // the weftd that heard it did not keep its jobs
  older->host = "host-1-0";
  older->batches = 7;
  hosts.push_back(older);
  auto answer = job("train-1");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->verdict(), v1::NodeHealth::UNKNOWN);
  EXPECT_EQ(answer->recommended_action(), v1::NodeHealth::WATCH);
  ASSERT_EQ(answer->not_followed_size(), 1);
  EXPECT_EQ(answer->not_followed(0),
            "the jobs of host-1-0 are not known: its collector has not reported them since weftd was started");
  answer = job("train-2");
  ASSERT_TRUE(answer) << "it may be there: " << answer.error().message;
  EXPECT_EQ(answer->verdict(), v1::NodeHealth::UNKNOWN);
  EXPECT_EQ(job("train-1", {"host-0-0"})->verdict(), v1::NodeHealth::HEALTHY) << "its nodes were named";
  older->batches = 0;  // a new host, which has told nothing yet
  EXPECT_EQ(job("train-1")->verdict(), v1::NodeHealth::HEALTHY);
  EXPECT_EQ(job("train-2").error().code, ErrorCode::kNotFound);
}

TEST_F(Schedulers, ASwitchLinkCountsForThoseWhosePacketsUseItAlone) {
  const std::string spine = spine_towards("host-1-0");
  blame(IncidentKind::kLinkFlap, fabric.port_towards("leaf-0", spine));
  const auto users = job("j", {"host-0-0", "host-1-0"});
  ASSERT_TRUE(users);
  EXPECT_EQ(users->verdict(), v1::NodeHealth::DEGRADED);
  EXPECT_EQ(users->recommended_action(), v1::NodeHealth::AVOID_NEW_JOBS);
  ASSERT_EQ(users->links_size(), 1);
  EXPECT_EQ(users->links_in_trouble(), 1U);
  EXPECT_EQ(users->links(0).reasons(0).incident_id(), "INC-1");
  EXPECT_EQ(users->links(0).from().node() == "leaf-0" ? users->links(0).to().node() : users->links(0).from().node(),
            spine);
  for (const v1::NodeHealth& node : users->nodes()) EXPECT_EQ(node.verdict(), v1::NodeHealth::HEALTHY);

  const auto neighbours = job("j", {"host-0-0", "host-0-1"});
  ASSERT_TRUE(neighbours);
  EXPECT_EQ(neighbours->verdict(), v1::NodeHealth::HEALTHY) << "their packets stay below leaf-0";
  EXPECT_TRUE(neighbours->links().empty());
}

TEST_F(Schedulers, WhatIsNoFaultOfTheLinkMakesNoVerdict) {
  blame(IncidentKind::kCongestionIncast, fabric.port_towards("host-0-0 mlx5_0", "leaf-0"));
  EXPECT_EQ(job("j", {"host-0-0", "host-1-0"})->verdict(), v1::NodeHealth::HEALTHY);
  blame(IncidentKind::kLinkErrors, fabric.port_towards("host-0-0 mlx5_0", "leaf-0"), 3);
  const auto planned = job("j", {"host-0-0", "host-1-0"});
  EXPECT_EQ(planned->verdict(), v1::NodeHealth::HEALTHY);
  EXPECT_EQ(planned->recommended_action(), v1::NodeHealth::AVOID_NEW_JOBS);
}

TEST_F(Schedulers, AWayThatDoesNotArriveIsUnhealthyAndSaysWhere) {
  fabric.send(fabric.find("leaf-0"), fabric.lid_of("host-1-0 mlx5_0"), kNoEgress);
  const auto answer = job("j", {"host-0-0", "host-1-0"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->verdict(), v1::NodeHealth::UNHEALTHY);
  EXPECT_EQ(answer->broken(), 1U);
  ASSERT_EQ(answer->broken_paths_size(), 1);
  EXPECT_EQ(answer->broken_paths(0).from().node(), "host-0-0 mlx5_0");
  EXPECT_EQ(answer->broken_paths(0).to().node(), "host-1-0 mlx5_0");
  EXPECT_NE(answer->broken_paths(0).why().find("leaf-0 has no route"), std::string::npos);
}

TEST_F(Schedulers, ASwitchOnTheWayThatIsNotHealthyCounts) {
  of("leaf-0").verdict = HealthVerdict::kUnhealthy;
  of("leaf-0").action = RecommendedAction::kDrain;
  const auto answer = job("j", {"host-0-0", "host-0-1"});
  EXPECT_EQ(answer->verdict(), v1::NodeHealth::UNHEALTHY);
  EXPECT_EQ(answer->recommended_action(), v1::NodeHealth::AVOID_NEW_JOBS);
  ASSERT_EQ(answer->switches_size(), 1);
  EXPECT_EQ(answer->switches(0).node(), "leaf-0");
  EXPECT_EQ(job("j", {"host-1-0", "host-1-1"})->verdict(), v1::NodeHealth::HEALTHY);
}

TEST_F(Schedulers, NoDataIsNotHealthy) {
  EXPECT_EQ(job("j", {"host-0-0", "nobody"})->verdict(), v1::NodeHealth::UNKNOWN);
  routed = false;
  const auto answer = job("j", {"host-0-0", "host-1-0"});
  EXPECT_EQ(answer->verdict(), v1::NodeHealth::UNKNOWN);
  EXPECT_EQ(answer->not_followed_size(), 1);
  EXPECT_EQ(job("j", {"host-0-0"})->verdict(), v1::NodeHealth::HEALTHY) << "one host alone needs no way";
}

}  // namespace
}  // namespace weft::api
