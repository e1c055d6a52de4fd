// SPDX-License-Identifier: Apache-2.0
// Serves the page and a made-up fat tree of three levels as weftd does, a new picture each second, until its standard
// input ends.
//
//   page_server PODS GROUPS RAILS HOSTS
//
// Each pod has GROUPS groups of HOSTS hosts with RAILS adapters each, one leaf for each rail of a group, 16 spines, and
// 16 cores above each plane of spines. A tenth of the links stall, some are down, some have errors. Prints the port
// that it listens on.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include "api/http/server.hpp"
#include "api/publication/publication.hpp"
#include "daemon/programs/weftd/page_assets.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace {

using namespace weft;

struct Shape {
  unsigned pods, groups, rails, hosts;
};
constexpr unsigned kPlanes = 16;
constexpr unsigned kCores = 16;

std::string text(unsigned number) {
  return std::to_string(number);
}

fakes::FabricBuilder build(const Shape& shape) {
  fakes::FabricBuilder fabric;
  const auto port = [&](NodeIndex node, unsigned number) {
    const Node& found = fabric.nodes()[node];
    return found.first_port + number - found.lowest_port();
  };
  std::vector<NodeIndex> cores;
  for (unsigned core = 0; core < kPlanes * kCores; ++core)
    cores.push_back(fabric.add_switch("core-" + text(core), static_cast<std::uint8_t>(shape.pods)));
  unsigned host = 0;
  for (unsigned pod = 0; pod < shape.pods; ++pod) {
    const unsigned leaves = shape.groups * shape.rails;
    std::vector<NodeIndex> spines;
    for (unsigned plane = 0; plane < kPlanes; ++plane) {
      spines.push_back(
          fabric.add_switch("spine-" + text(pod) + '-' + text(plane), static_cast<std::uint8_t>(leaves + kCores)));
      for (unsigned core = 0; core < kCores; ++core)
        fabric.connect(port(spines.back(), leaves + core + 1), port(cores[plane * kCores + core], pod + 1));
    }
    for (unsigned group = 0; group < shape.groups; ++group, host += shape.hosts) {
      for (unsigned rail = 0; rail < shape.rails; ++rail) {
        const NodeIndex leaf = fabric.add_switch("leaf-" + text(pod) + '-' + text(group) + '-' + text(rail),
                                                 static_cast<std::uint8_t>(shape.hosts + kPlanes));
        for (unsigned plane = 0; plane < kPlanes; ++plane)
          fabric.connect(port(leaf, shape.hosts + plane + 1), port(spines[plane], group * shape.rails + rail + 1));
        for (unsigned at = 0; at < shape.hosts; ++at) {
          const NodeIndex adapter = fabric.add_adapter("gpu-" + text(host + at) + " mlx5_" + text(rail));
          fabric.connect(port(adapter, 1), port(leaf, at + 1));
        }
      }
    }
  }
  return fabric;
}

std::shared_ptr<const Snapshot> picture(fakes::FabricBuilder& fabric, std::uint64_t revision, TimePoint now,
                                        std::mt19937& random) {
  auto sweep = std::make_shared<Sweep>(fabric.sweep());
  sweep->finished = now;
  std::fill(sweep->state_read_at.begin(), sweep->state_read_at.end(), now);
  auto counters = std::make_shared<SampleTable>(*sweep->counters);
  auto rates = std::make_shared<std::vector<PortRates>>(fabric.ports().size());
  for (PortIndex index = 0; index < fabric.ports().size(); ++index) {
    counters->set_read_at(index, now);
    const double draw = std::uniform_real_distribution<double>(0, 1)(random);
    (*rates)[index] = {1e9, 1e9, 0.3, draw < 0.05 ? draw * 20 : 0, draw > 0.999 ? 1e-12 : 0, 0};
  }
  sweep->counters = std::move(counters);
  auto health = std::make_shared<std::vector<NodeHealth>>();
  for (const Node& node : fabric.nodes()) {
    NodeHealth entry;
    entry.node = std::string(host_name(node));
    if (!health->empty() && health->back().node == entry.node) continue;
    entry.verdict = random() % 500 == 0 ? HealthVerdict::kDegraded : HealthVerdict::kHealthy;
    health->push_back(std::move(entry));
  }
  std::sort(health->begin(), health->end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->revision = revision;
  snapshot->taken = now;
  snapshot->health = std::move(health);
  FabricView view;
  view.name = "made-up";
  view.watching = true;
  view.status = "watching";
  view.sweep = std::move(sweep);
  view.rates = std::move(rates);
  view.stale_after = std::chrono::seconds(30);
  snapshot->fabrics = {std::move(view)};
  return snapshot;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at) { return static_cast<unsigned>(std::strtoul(argv[at], nullptr, 10)); };
  if (argc != 5 || number(2) * number(3) + kCores > 254 || number(4) + kPlanes > 254) {
    std::fprintf(stderr, "usage: page_server PODS GROUPS RAILS HOSTS\n");
    return 2;
  }
  fakes::FabricBuilder fabric = build({number(1), number(2), number(3), number(4)});
  std::mt19937 random(1);
  for (unsigned pulled = 0; pulled < 40; ++pulled) {
    const PortIndex end = static_cast<PortIndex>(random() % fabric.ports().size());
    if (fabric.ports()[end].peer != kNoIndex) fabric.unlink(end);
  }
  const SystemClock clock;
  api::Publication publication;
  publication.publish(picture(fabric, 1, clock.now(), random));
  auto server = api::HttpServer::start({.port = 0}, publication, clock, {}, {.assets = page_assets()});
  if (!server) {
    std::fprintf(stderr, "page_server: %s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%u\n", static_cast<unsigned>((*server)->port()));
  std::fflush(stdout);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  for (std::uint64_t revision = 2; poll(&input, 1, 1000) == 0; ++revision)
    publication.publish(picture(fabric, revision, clock.now(), random));
  (*server)->stop();
  return 0;
}
