// SPDX-License-Identifier: Apache-2.0
// HealthService over a fabric of many hosts, a tenth of whose links begin or cease to flap with each publication, one a
// second, as weftd makes and publishes them, until its standard input ends.
//
//   health_server LEAVES HOSTS_PER_LEAF
//
// Prints its port; at the end how many pictures it published and how long, in milliseconds, the median one took.

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "analyzer/incidents/health.hpp"
#include "api/grpc/health_service.hpp"
#include "api/grpc/watch_dispatcher.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace {

using namespace weft;

class World {
 public:
  World(unsigned leaves, unsigned hosts) : fabric_(fakes::FabricBuilder::fat_tree(16, leaves, hosts)) {
    fabric_.route();
    for (const Node& node : fabric_.nodes())
      if (node.type == NodeType::kChannelAdapter) hosts_.push_back(node.first_port);
  }

  /// Every call makes a tenth of the hosts ill and those of the call before well.
  std::shared_ptr<const Snapshot> next(std::uint64_t revision) {
    FabricView view;
    view.name = fabric_.name();
    view.watching = true;
    view.stale_after = std::chrono::hours(1);
    view.sweep = std::make_shared<const Sweep>(fabric_.sweep());
    auto incidents = std::make_shared<analyzer::IncidentList>();
    for (std::size_t host = revision % 10; host < hosts_.size(); host += 10) {
      auto incident = std::make_shared<Incident>();
      const LinkKey link = fabric_.link_of(hosts_[host]);
      incident->id = revision * hosts_.size() + host + 1;
      incident->finding.kind = IncidentKind::kLinkFlap;
      incident->finding.cause = {EntityKind::kLink, fabric_.name(), link.low, link.high, "a cable of a host"};
      incident->finding.summary = "Link of a host is flapping, three times in a quarter of an hour";
      incident->opened = fabric_.now();
      incidents->push_back(std::move(incident));
    }
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->revision = revision;
    snapshot->taken = fabric_.now();
    snapshot->fabrics.push_back(std::move(view));
    snapshot->health = std::make_shared<const std::vector<NodeHealth>>(
        analyzer::assess(snapshot->fabrics, {}, *incidents, {}, fabric_.now()));
    snapshot->incidents = std::move(incidents);
    return snapshot;
  }

 private:
  fakes::FabricBuilder fabric_;
  std::vector<PortIndex> hosts_;
};

}  // namespace

int main(int argc, char** argv) {
  using Steady = std::chrono::steady_clock;
  const auto number = [&](int at) {
    return at < argc ? static_cast<unsigned>(std::strtoul(argv[at], nullptr, 10)) : 0U;
  };
  if (argc != 3 || number(1) == 0 || number(2) == 0) {
    std::fprintf(stderr, "usage: health_server LEAVES HOSTS_PER_LEAF\n");
    return 2;
  }
  World world(number(1), number(2));
  const SystemClock clock;
  api::Publication publication;
  publication.publish(world.next(1));
  api::WatchDispatcher hall(publication, 128, [](const Snapshot&) {});
  api::HealthService service(publication, hall);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (!server) return 1;
  std::printf("%d\n", port);
  std::fflush(stdout);

  std::atomic<bool> stopped = false;
  std::vector<double> took;
  std::thread publisher([&] {
    auto due = Steady::now();
    for (std::uint64_t revision = 2; !stopped; ++revision) {
      due += std::chrono::seconds(1);
      std::this_thread::sleep_until(due);
      const auto began = Steady::now();
      publication.publish(world.next(revision));
      took.push_back(std::chrono::duration<double, std::milli>(Steady::now() - began).count());
    }
  });
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) > 0;) {
  }
  stopped = true;
  publisher.join();
  server->Shutdown();
  std::ranges::sort(took);
  std::printf("%zu %.1f\n", took.size(), took.empty() ? 0.0 : took[took.size() / 2]);
  return 0;
}
