// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/job_health.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(JobHealth, AHostOfAnIncidentIsKnownByEachOfItsNames) {
  const auto hosts_of = [](const std::string& told_by, const std::string& collector, bool tells_jobs) {
    Snapshot snapshot;
    auto incident = std::make_shared<Incident>();
    incident->finding.kind = IncidentKind::kLinkDown;
    incident->finding.cause.kind = EntityKind::kHostPort;
    incident->finding.cause.host = told_by;
    incident->finding.jobs = {"slurm:7"};
    snapshot.incidents = std::make_shared<const std::vector<std::shared_ptr<const Incident>>>(
        std::vector<std::shared_ptr<const Incident>>{incident});
    NodeHealth node;
    node.node = "gpu-07";
    snapshot.health = std::make_shared<const std::vector<NodeHealth>>(std::vector{node});
    auto view = std::make_shared<HostView>();
    view->host = collector;
    if (tells_jobs) view->jobs_before = std::vector<std::string>{};
    snapshot.hosts = std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(
        std::vector<std::shared_ptr<const HostView>>{view});
    return hosts_of_job(snapshot, "7");
  };
  using Names = std::vector<std::string>;
  for (const char* name : {"gpu-07", "GPU-07.example.org"}) {
    EXPECT_EQ(hosts_of(name, name, false), Names{"gpu-07"}) << name;
    EXPECT_EQ(hosts_of(name, name, true), Names{}) << "it says that no job holds it";
  }
  EXPECT_EQ(hosts_of("gpu-070", "gpu-07", false), Names{});
}

}  // namespace
}  // namespace weft
