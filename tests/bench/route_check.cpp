// SPDX-License-Identifier: Apache-2.0
// How long it takes to follow forwarding tables from everybody to everybody, and to look for credit loops. Processor
// time of one core. Usage: route_check SPINES LEAVES HOSTS_PER_LEAF LIMIT_SECONDS. Prints lines of name, ours, limit,
// ratio, tab separated; where it is not too long, also how long pair by pair takes.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fabric/graph/directed_path.hpp"
#include "fabric/graph/route_check.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft {
namespace {

constexpr int kTries = 5;
constexpr double kWayLimit = 0.01;  // seconds
constexpr std::uint64_t kMostPairsOneByOne = 5'000'000;

double processor_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

template <typename Work>
double slowest(int tries, Work work) {
  double worst = 0;
  for (int i = 0; i < tries; ++i) {
    const double before = processor_seconds();
    work();
    worst = std::max(worst, processor_seconds() - before);
  }
  return worst;
}

std::uint64_t arriving_one_by_one(const Topology& topology, const Routes& routes) {
  std::vector<PortIndex> ends;
  for (PortIndex index = 0; index < topology.ports().size(); ++index) {
    const Port& port = topology.port(index);
    if (topology.node_of(port).type != NodeType::kSwitch && port.is_up()) ends.push_back(index);
  }
  std::uint64_t arrived = 0;
  for (const PortIndex from : ends)
    for (const PortIndex to : ends)
      if (from != to && find_path(topology, routes, from, topology.port(to).lid).arrived()) ++arrived;
  return arrived;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  using namespace weft;
  if (argc != 5) return 2;
  const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)); };
  auto fabric = fakes::FabricBuilder::fat_tree(number(1), number(2), number(3));
  fabric.route();
  const double limit = std::strtod(argv[4], nullptr);
  const auto topology = fabric.topology();
  const auto routes = fabric.routes();
  const std::string size = std::to_string(number(2) * number(3)) + " hosts, " + std::to_string(number(1) + number(2)) +
                           " switches, s of one core, slowest of " + std::to_string(kTries);

  Reachability found;
  const double reach = slowest(kTries, [&] { found = check_reachability(*topology, *routes); });
  bool loop = false;
  const double circle = slowest(kTries, [&] { loop = !find_credit_loop(*topology, *routes).empty(); });
  if (!found.all_arrive() || loop) return 1;
  std::printf("every pair of %s (limit)\t%.4f\t%.2f\t%.1f\n", size.c_str(), reach, limit, limit / reach);
  std::printf("credit loops of %s (limit)\t%.4f\t%.2f\t%.1f\n", size.c_str(), circle, limit, limit / circle);
  const LinkKey link = fabric.link_of(fabric.port_towards("leaf-1", "spine-1"));
  bool ends_found = false;
  const double ends = slowest(kTries, [&] {
    const auto both = find_link_ends(*topology, fabric.local_port(), link);
    ends_found = both && both->has_way_round();
  });
  if (!ends_found) return 1;
  std::printf("ends of a link and ways round it, %s (limit)\t%.5f\t%.3f\t%.1f\n", size.c_str(), ends, kWayLimit,
              kWayLimit / ends);
  if (found.pairs > kMostPairsOneByOne) return 0;
  std::uint64_t arrived = 0;
  const double one_by_one = slowest(1, [&] { arrived = arriving_one_by_one(*topology, *routes); });
  if (arrived != found.pairs) return 1;
  std::printf("every pair of %s (one by one)\t%.4f\t%.4f\t%.1f\n", size.c_str(), reach, one_by_one, one_by_one / reach);
}
