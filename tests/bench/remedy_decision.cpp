// SPDX-License-Identifier: Apache-2.0
// How long weftd takes to decide about one bad link on a large fat tree: from the incident to a plan with its
// candidates, its guards and the capacity that would be left, and the same for several bad links at once. Processor
// time of one core. Usage: remedy_decision PODS LEAVES AGGREGATIONS CORES LIMIT_SECONDS. Prints lines of name, ours,
// limit, ratio, tab separated.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "analyzer/places/place_finder.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "tests/fakes/three_tiers.hpp"

namespace weft::analyzer {
namespace {

constexpr int kTries = 9;

double processor_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

std::shared_ptr<const Incident> errors_on(const Topology& topology, const Uplink& uplink, std::uint64_t id,
                                          TimePoint now) {
  auto incident = std::make_shared<Incident>();
  incident->id = id;
  incident->finding.kind = IncidentKind::kLinkErrors;
  incident->finding.severity = Severity::kWarning;
  incident->finding.confidence = 0.9;
  incident->opened = incident->updated = now;
  incident->beginnings = {now};
  const auto key = *topology.link_of(uplink.port);
  incident->finding.cause = {.kind = EntityKind::kLink,
                             .fabric = "f",
                             .port = key.low,
                             .peer = key.high,
                             .label = "link " + std::to_string(id)};
  for (const PortKey end : {key.low, key.high}) {
    Evidence evidence;
    evidence.signal = "error_rate";
    evidence.unit = "errors/bit";
    evidence.value = 1e-9;
    evidence.observed = now;
    evidence.where = {.kind = EntityKind::kPort, .fabric = "f", .port = end, .peer = {}, .label = ""};
    incident->finding.evidence.push_back(evidence);
  }
  incident->finding.summary = "errors";
  return incident;
}

void report(const char* what, std::size_t links, double seconds, double limit) {
  std::printf("%s on %zu links, s of one core (limit)\t%.4f\t%.3f\t%.2f\n", what, links, seconds, limit,
              limit / seconds);
}

int run(char** arguments) {
  const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(arguments[i], nullptr, 10)); };
  auto built = fakes::three_tiers(number(1), number(2), number(3), number(4), 1);
  const double limit = std::strtod(arguments[5], nullptr);
  auto sweep = std::make_shared<Sweep>();
  sweep->fabric = "f";
  sweep->interval = std::chrono::seconds(1);
  sweep->topology = built.topology();
  sweep->local_port = built.key_of(built.port_of("host-0-0-0 mlx5_0", 1));
  sweep->subnet_manager = built.key_of(built.port_of("host-0-1-0 mlx5_0", 1));
  TimePoint now = TimePoint(std::chrono::hours(24 * 365));
  std::vector<FabricView> fabrics(1);
  fabrics[0].name = "f";
  fabrics[0].watching = true;

  // Half of the hosts run one job: the rule for pairs of leaves has the most to do.
  std::vector<std::shared_ptr<const HostView>> hosts;
  for (const Node& node : sweep->topology->nodes()) {
    if (node.type != NodeType::kChannelAdapter || hosts.size() % 2 != 0) continue;
    auto reading = std::make_shared<HostReading>();
    reading->jobs = {"slurm:1"};
    auto host = std::make_shared<HostView>();
    host->host = host_name(node);
    host->reading = std::move(reading);
    hosts.push_back(std::move(host));
  }
  const FabricTree tree(*sweep->topology, find_places(*sweep->topology));
  const std::size_t links = tree.uplinks().size() + tree.leaves().size();

  const auto slowest = [&](unsigned bad) {
    double worst = 0;
    for (int attempt = 0; attempt < kTries; ++attempt) {
      RemedySettings settings;
      settings.actuators.fill("none");
      PlanManager book(settings, {}, now);
      std::vector<std::shared_ptr<const Incident>> incidents{errors_on(*sweep->topology, tree.uplinks()[1], 1, now)};
      const auto look = [&] {
        now += std::chrono::seconds(1);
        auto next = std::make_shared<Sweep>(*sweep);
        next->started = next->finished = now;
        fabrics[0].sweep = std::move(next);
        return RemedyView{now, fabrics, incidents, hosts, {}, {}, {}};
      };
      book.review(look());  // weftd has seen the fabric, and other trouble, before
      for (unsigned i = 0; i < bad; ++i) {
        const std::size_t at = (tree.uplinks().size() / (bad + 1)) * (i + 1);
        incidents.push_back(errors_on(*sweep->topology, tree.uplinks()[at], 2 + i, now));
      }
      const RemedyView view = look();
      const double before = processor_seconds();
      book.review(view);
      worst = std::max(worst, processor_seconds() - before);
      const auto plans = book.all();
      if (plans->size() != bad + 1) {
        std::fprintf(stderr, "%zu plans for %u links\n", plans->size(), bad);
        std::exit(1);
      }
    }
    return worst;
  };
  report("deciding about one bad link", links, slowest(1), limit);
  report("deciding about 16 bad links at once", links, slowest(16), limit * 16);
  return 0;
}

}  // namespace
}  // namespace weft::analyzer

int main(int argc, char** argv) {
  return argc == 6 ? weft::analyzer::run(argv) : 2;
}
