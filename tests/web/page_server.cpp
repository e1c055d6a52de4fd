// SPDX-License-Identifier: Apache-2.0
// Serves the page and a made-up fat tree of three levels as weftd does, a new picture each second, until its standard
// input ends.
//
//   page_server PODS GROUPS RAILS HOSTS [BAD]
//
// Each pod has GROUPS groups of HOSTS hosts with RAILS adapters each, one leaf for each rail of a group, 16 spines, and
// 16 cores above each plane of spines. Prints the port that it listens on. A tenth of the links stall, some are down,
// some have errors. With BAD, all is well but that many hosts, far from each other, which are unhealthy: the cables of
// the first, the third and so on are pulled. Their names follow in the next line, with spaces between them.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyzer/places/place_finder.hpp"
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

/// So many hosts, evenly spread over all that there are.
std::vector<std::string> spread(const Shape& shape, unsigned count) {
  std::vector<std::string> names;
  const unsigned apart = shape.pods * shape.groups * shape.hosts / count;
  for (unsigned at = 0; at < count; ++at)
    names.push_back("gpu-" + text(at * apart + (apart / 2 + at * 37) % apart));  // not all in one column
  return names;
}

void pull(fakes::FabricBuilder& fabric, const std::string& host) {
  for (NodeIndex node = 0; node < fabric.nodes().size(); ++node)
    if (const PortIndex port = fabric.nodes()[node].first_port + 1 - fabric.nodes()[node].lowest_port();
        host_name(fabric.nodes()[node]) == host)
      fabric.unlink(port);
}

/// What a picture shows, beside its fabric.
struct Weather {
  bool is_rough = true;          ///< stall, errors and hosts that are not well, by chance
  std::vector<std::string> bad;  ///< hosts that are unhealthy
};

std::vector<PortRates> rates_of(const fakes::FabricBuilder& fabric, const Weather& weather, std::mt19937& random) {
  std::vector<PortRates> rates(fabric.ports().size(), {1e9, 1e9, 0.3, 0, 0, 0});
  if (weather.is_rough)
    for (PortRates& each : rates) {
      const double draw = std::uniform_real_distribution<double>(0, 1)(random);
      each.stall_ratio = draw < 0.05 ? draw * 20 : 0;
      each.error_rate = draw > 0.999 ? 1e-12 : 0;
    }
  return rates;
}

std::vector<NodeHealth> health_of(const fakes::FabricBuilder& fabric, const Weather& weather, std::mt19937& random) {
  std::vector<NodeHealth> health;
  for (const Node& node : fabric.nodes()) {
    NodeHealth entry;
    entry.node = std::string(host_name(node));
    if (!health.empty() && health.back().node == entry.node) continue;
    const bool is_degraded = weather.is_rough && random() % 500 == 0;
    entry.verdict = std::ranges::count(weather.bad, entry.node) > 0 ? HealthVerdict::kUnhealthy
                    : is_degraded                                   ? HealthVerdict::kDegraded
                                                                    : HealthVerdict::kHealthy;
    health.push_back(std::move(entry));
  }
  std::sort(health.begin(), health.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  return health;
}

std::shared_ptr<const Snapshot> picture(fakes::FabricBuilder& fabric, std::shared_ptr<const Places> places,
                                        const Weather& weather, std::uint64_t revision, TimePoint now,
                                        std::mt19937& random) {
  auto sweep = std::make_shared<Sweep>(fabric.sweep());
  sweep->finished = now;
  std::fill(sweep->state_read_at.begin(), sweep->state_read_at.end(), now);
  auto counters = std::make_shared<SampleTable>(*sweep->counters);
  for (PortIndex index = 0; index < fabric.ports().size(); ++index) counters->set_read_at(index, now);
  sweep->counters = std::move(counters);
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->revision = revision;
  snapshot->taken = now;
  snapshot->health = std::make_shared<const std::vector<NodeHealth>>(health_of(fabric, weather, random));
  FabricView view;
  view.name = "made-up";
  view.watching = true;
  view.status = "watching";
  view.sweep = std::move(sweep);
  view.places = std::move(places);
  view.rates = std::make_shared<const std::vector<PortRates>>(rates_of(fabric, weather, random));
  view.stale_after = std::chrono::seconds(30);
  snapshot->fabrics = {std::move(view)};
  return snapshot;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at) { return static_cast<unsigned>(std::strtoul(argv[at], nullptr, 10)); };
  if (argc < 5 || argc > 6 || (argc == 6 && number(5) == 0) || number(2) * number(3) + kCores > 254 ||
      number(4) + kPlanes > 254) {
    std::fprintf(stderr, "usage: page_server PODS GROUPS RAILS HOSTS [BAD]\n");
    return 2;
  }
  const Shape shape{number(1), number(2), number(3), number(4)};
  fakes::FabricBuilder fabric = build(shape);
  std::mt19937 random(1);
  Weather weather;
  if (argc == 6) weather = {false, spread(shape, number(5))};
  for (std::size_t at = 0; at < weather.bad.size(); at += 2) pull(fabric, weather.bad[at]);
  for (unsigned pulled = 0; weather.is_rough && pulled < 40; ++pulled) {
    const PortIndex end = static_cast<PortIndex>(random() % fabric.ports().size());
    if (fabric.ports()[end].peer != kNoIndex) fabric.unlink(end);
  }
  const auto places = std::make_shared<const Places>(analyzer::find_places(*fabric.topology()));
  const SystemClock clock;
  api::Publication publication;
  publication.publish(picture(fabric, places, weather, 1, clock.now(), random));
  auto server = api::HttpServer::start({.port = 0}, publication, clock, {}, {.assets = page_assets()});
  if (!server) {
    std::fprintf(stderr, "page_server: %s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%u\n", static_cast<unsigned>((*server)->port()));
  for (const std::string& name : weather.bad) std::printf("%s ", name.c_str());
  std::printf("\n");
  std::fflush(stdout);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  for (std::uint64_t revision = 2; poll(&input, 1, 1000) == 0; ++revision)
    publication.publish(picture(fabric, places, weather, revision, clock.now(), random));
  (*server)->stop();
  return 0;
}
