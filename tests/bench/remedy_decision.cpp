// SPDX-License-Identifier: Apache-2.0
// How long weftd takes to decide about bad links on a large fat tree, in propose mode: from the incidents to plans with
// their candidates, their guards and the capacity that would be left. All of them at once, one more beside those that
// wait, and a review in which nothing is new. Processor time of one core. Half of the hosts run one job.
// Usage: remedy_decision PODS LEAVES AGGREGATIONS CORES SHARE BAD BAD_PODS [RATE [AVOIDED [HELD]]]
// SHARE (0..1) is what leaves, pairs of leaves and rails must keep. BAD links are drawn from the first BAD_PODS pods
// with the error rates that CorrOpt (SIGCOMM'17, table 1) found, or all with RATE errors in a bit, unless that is 0.
// AVOIDED links, spread over all, are up and on a list of links to be avoided; HELD others were taken out by plans.
// Prints lines of name, ours, limit, ratio, tab separated.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/places/place_finder.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/link_choice.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/tree_cache.hpp"
#include "tests/fakes/three_tiers.hpp"

namespace weft::analyzer {
namespace {

constexpr int kTries = 3;
constexpr double kLimitNew = 0.010, kLimitFull = 0.050, kLimitAvoided = 0.100;  // seconds

double processor_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

std::shared_ptr<const Incident> errors_on(const Topology& topology, const Uplink& uplink, std::uint64_t id, double rate,
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
    evidence.value = rate;
    evidence.observed = now;
    evidence.where = {.kind = EntityKind::kPort, .fabric = "f", .port = end, .peer = {}, .label = ""};
    incident->finding.evidence.push_back(evidence);
  }
  incident->finding.summary = "errors";
  return incident;
}

// Packets lost on a corrupting link (CorrOpt, SIGCOMM'17, table 1), as errors in a bit of packets of 4 KiB.
double draw_rate(std::mt19937& random) {
  const auto within = [&random](double low, double high) {
    return std::pow(10, std::uniform_real_distribution(low, high)(random)) / (4096 * 8);
  };
  const double at = std::uniform_real_distribution(0.0, 1.0)(random);
  return at < 0.4723 ? within(-8, -5) : at < 0.6566 ? within(-5, -4) : at < 0.8733 ? within(-4, -3) : within(-3, -2);
}

void report(const std::string& what, double seconds, double limit) {
  std::printf("%s, s of one core (limit)\t%.4f\t%.3f\t%.2f\n", what.c_str(), seconds, limit, limit / seconds);
}

struct Links {
  std::vector<UplinkIndex> uplinks;
  std::vector<double> rates;
};

Links draw(const FabricTree& tree, const Topology& topology, unsigned bad, unsigned pods, double rate) {
  std::vector<UplinkIndex> all;
  for (UplinkIndex i = 0; i < tree.uplinks().size(); ++i) {
    const std::string& name = topology.node(tree.uplinks()[i].child).name;  // "leaf-<pod>-<n>"
    if (std::strtoul(name.c_str() + name.find('-') + 1, nullptr, 10) < pods) all.push_back(i);
  }
  std::mt19937 random(bad + pods);
  std::ranges::shuffle(all, random);
  all.resize(bad);
  Links links{std::move(all), {}};
  for (unsigned i = 0; i < bad; ++i) links.rates.push_back(rate > 0 ? rate : draw_rate(random));
  return links;
}

/// Plans with the ids from 1000000 on that took out `held` of the links, spread over all but for `spared`.
RemedyMemory held_links(const FabricTree& tree, const Topology& topology, unsigned held,
                        const std::vector<UplinkIndex>& spared, TimePoint now) {
  RemedyMemory memory;
  const std::size_t links = tree.uplinks().size();
  for (std::size_t i = 0; memory.plans.size() < held && i < links; ++i) {
    const auto uplink = static_cast<UplinkIndex>((i * (links / (held + 1)) + 1) % links);
    if (std::ranges::find(spared, uplink) != spared.end()) continue;
    Plan& plan = memory.plans.emplace_back();
    plan.id = 1'000'000 + i;
    plan.state = PlanState::kCommitted;
    plan.in_force = true;
    plan.target = link_entity("f", topology, tree.uplinks()[uplink].port);
    plan.started = plan.finished = now - std::chrono::hours(48);
    plan.actuator = "none";
  }
  return memory;
}

int run(char** arguments, double rate, unsigned avoided, unsigned held) {
  const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(arguments[i], nullptr, 10)); };
  auto built = fakes::three_tiers(number(1), number(2), number(3), number(4), 1);
  const double share = std::strtod(arguments[5], nullptr);
  const unsigned bad = number(6), bad_pods = number(7);
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

  std::vector<std::shared_ptr<const HostView>> hosts;
  bool runs = false;
  for (const Node& node : sweep->topology->nodes()) {
    if (node.type != NodeType::kChannelAdapter || (runs = !runs)) continue;
    auto reading = std::make_shared<HostReading>();
    reading->jobs = {"slurm:1"};
    auto host = std::make_shared<HostView>();
    host->host = host_name(node);
    host->reading = std::move(reading);
    hosts.push_back(std::move(host));
  }
  const auto places = std::make_shared<const Places>(find_places(*sweep->topology));
  fabrics[0].places = places;
  const FabricTree tree(*sweep->topology, *places);
  const std::size_t links = tree.uplinks().size();
  const Links drawn = draw(tree, *sweep->topology, bad, bad_pods, rate);

  std::vector<PortKey> avoided_ports;
  for (unsigned i = 0; i < avoided; ++i)
    avoided_ports.push_back(sweep->topology->key_of(tree.uplinks()[i * links / avoided].port));

  RemedySettings settings;
  settings.actuators.fill("none");
  CapacityLimits& capacity = settings.limits.capacity;
  capacity.leaf_share_jobs = capacity.leaf_share_idle = capacity.job_share = capacity.rail_share = share;

  double full = 0, one = 0, idle = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    PlanManager book(settings, held_links(tree, *sweep->topology, held, drawn.uplinks, now), now);
    std::vector<std::shared_ptr<const Incident>> incidents;
    const auto review = [&] {
      now += std::chrono::seconds(1);
      auto next = std::make_shared<Sweep>(*sweep);
      next->started = next->finished = now;
      fabrics[0].sweep = std::move(next);
      const Duration steady = now.time_since_epoch();
      if (avoided > 0) book.set_avoided_ports("others", {avoided_ports, steady});
      const double before = processor_seconds();
      book.review({now, fabrics, incidents, hosts, {}, {}, {}, steady});
      return processor_seconds() - before;
    };
    const auto add = [&](unsigned i) {
      incidents.push_back(errors_on(*sweep->topology, tree.uplinks()[drawn.uplinks[i]], i + 1, drawn.rates[i], now));
    };
    add(0);
    review();  // weftd has seen the fabric, and other trouble, before
    for (unsigned i = 1; i < bad; ++i) add(i);
    full = std::max(full, review());
    full = std::max(full, review());  // among those that guards left
    idle = std::max(idle, review());
    incidents.push_back(errors_on(*sweep->topology, tree.uplinks()[links / 2], bad + 1, 1e-9, now));
    one = std::max(one, review());
    if (book.all()->size() != bad + 1 + held) {
      std::fprintf(stderr, "%zu plans for %u links\n", book.all()->size(), bad + 1 + held);
      return 1;
    }
  }
  const std::string where = std::to_string(bad) + " bad links in " + std::to_string(bad_pods) + " of " +
                            std::to_string(number(1)) + " pods, " + std::to_string(links) + " links, " +
                            std::to_string(std::lround(share * 100)) + " % kept" + (rate > 0 ? ", all alike" : "") +
                            (avoided > 0 ? ", " + std::to_string(avoided) + " of them avoided" : "") +
                            (held > 0 ? ", " + std::to_string(held) + " held" : "");
  const auto report_times = [&](double limit_full, double limit_new) {
    report("a full choice among " + where, full, limit_full);
    report("one more beside " + where, one, limit_new);
    report("a review with nothing new of " + where, idle, limit_new);
  };
  if (avoided > 0 || held > 0) {
    report_times(kLimitAvoided, kLimitAvoided);
    return 0;
  }
  // What the choice is worth: the same without a bound on the search.
  LiveTree live(tree, std::vector<std::uint8_t>(links, 1), leaves_of_jobs(tree, *sweep->topology, hosts), capacity);
  std::vector<BadLink> among;
  for (unsigned i = 0; i < bad; ++i) among.push_back({drawn.uplinks[i], drawn.rates[i]});
  double all = 0;
  for (const BadLink& link : among) all += link.harm;
  const LinkChoice chosen = LinkChooser(live).choose(among);
  const LinkChoice best = LinkChooser(live).choose(among, rate > 0 ? 100'000 : 10'000'000);
  std::printf("bad links that stay, of %s\t%zu\t%u\t-\n", where.c_str(), bad - chosen.out.size(), bad);
  std::printf("loss taken out of service, share of the optimum%s, of %s\t%.6f\t1\t-\n",
              best.exact ? "" : " (not proven)", where.c_str(),
              all == best.harm_left ? 1 : (all - chosen.harm_left) / (all - best.harm_left));
  // What weftd weighs links by is no loss rate. Beside the penalty that CorrOpt minimizes: the rates of those that
  // stay.
  std::vector<BadLink> weighed;
  for (unsigned i = 0; i < bad; ++i) {
    const auto incident = errors_on(*sweep->topology, tree.uplinks()[drawn.uplinks[i]], i + 1, drawn.rates[i], now);
    weighed.push_back(
        {drawn.uplinks[i], harm_of(*incident, {now, fabrics, {}, hosts, {}, {}, {}}, settings.limits).weight});
  }
  const LinkChoice ours = LinkChooser(live).choose(weighed);
  const auto rates_left = [&](const LinkChoice& choice) {
    double left = 0;
    for (std::uint32_t i = 0; i < bad; ++i)
      if (!std::ranges::binary_search(choice.out, i)) left += drawn.rates[i];
    return left;
  };
  const double left = rates_left(ours), least = rates_left(best);
  std::printf("loss that stays by weftd's own weights, times the least, of %s\t%.3f\t1\t-\n", where.c_str(),
              least > 0 ? left / least : 1);
  std::printf("loss taken out by weftd's own weights, share of the optimum, of %s\t%.6f\t1\t-\n", where.c_str(),
              all == least ? 1 : (all - left) / (all - least));
  report_times(kLimitFull, kLimitNew);
  return 0;
}

}  // namespace
}  // namespace weft::analyzer

int main(int argc, char** argv) {
  if (argc < 8 || argc > 11) return 2;
  const auto given = [&](int i) { return argc > i ? static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)) : 0U; };
  return weft::analyzer::run(argv, argc >= 9 ? std::strtod(argv[8], nullptr) : 0, given(9), given(10));
}
