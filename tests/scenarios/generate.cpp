// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/generate.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

#include "tests/scenarios/forwarding.hpp"
#include "tests/scenarios/random.hpp"
#include "tests/scenarios/traffic.hpp"

namespace weft::scenarios {
namespace {

/// The analyzer is left alone for so long before anything happens (seconds).
constexpr double kCalm = 15;
/// And for so long where it must have learned what is usual: twenty detail readings, one a minute (seconds).
constexpr double kLearning = 30 * 60;

class Author {
 public:
  Author(std::string_view group, std::uint64_t seed, Scale scale)
      : random_(seed * 1000003 + number_of(group)), scale_(scale) {
    ethernet_ = group.starts_with(kEthernet);
    scenario_.group = group;
    scenario_.name = std::string(group) + "/" + std::to_string(seed);
    scenario_.seed = seed;
  }

  Case write() {
    const std::string& group = scenario_.group;
    if (is_day()) {
      scenario_.interval = 30;
      scenario_.duration = scale_ == Scale::kSmall ? 6 * 3600 : 24 * 3600;
    }
    if (group == to_string(FaultKind::kOpticsFading)) scenario_.interval = 30;
    choose_fabric();
    choose_jobs();
    if (group == kTwo) {
      static constexpr FaultKind kPairs[] = {FaultKind::kLinkDown,   FaultKind::kWidthLoss,      FaultKind::kErrors,
                                             FaultKind::kFlapFast,   FaultKind::kFrozenCounters, FaultKind::kSwitchDown,
                                             FaultKind::kNodeSilent, FaultKind::kSlowReceiver};
      for (int i = 0; i < 2; ++i) add_fault(random_.pick(kPairs));
    } else if (group == kOnCongestion) {
      static constexpr FaultKind kCongestions[] = {FaultKind::kIncast, FaultKind::kCollision};
      static constexpr FaultKind kFaults[] = {FaultKind::kLinkDown, FaultKind::kFlapFast,       FaultKind::kWidthLoss,
                                              FaultKind::kErrors,   FaultKind::kFrozenCounters, FaultKind::kSwitchDown};
      add_fault(random_.pick(kCongestions));
      add_fault(random_.pick(kFaults));
    } else if (const auto kind = parse_fault_kind(ethernet_ ? group.substr(kEthernet.size()) : group)) {
      add_fault(*kind);
    }
    scenario_.truths = truths_of(scenario_, plan_);
    return {std::move(scenario_), std::move(plan_)};
  }

 private:
  bool is_day() const { return scenario_.group.ends_with(kQuietDay); }
  void choose_fabric();
  void choose_jobs();
  void add_fault(FaultKind kind);
  bool place(Fault& fault);
  bool place_congestion(Fault& fault);
  void collide(const ForwardingTables& tables, std::span<const PortIndex> peers, std::span<const std::uint32_t> here,
               Fault& fault);
  bool place_loss(Fault& fault);
  PortIndex any_link(bool access, bool inner);
  bool is_free(PortIndex port) const {
    return !taken_.contains(plan_.ports[port].node) && !taken_.contains(plan_.ports[plan_.ports[port].peer].node);
  }
  void take(PortIndex port) {
    taken_.insert(plan_.ports[port].node);
    taken_.insert(plan_.ports[plan_.ports[port].peer].node);
  }
  std::uint32_t any_endpoint() { return 1 + random_.below(plan_.adapters.size() - 1); }

  Random random_;
  Scale scale_;
  bool ethernet_ = false;
  Scenario scenario_;
  Plan plan_;
  std::set<NodeIndex> taken_;  ///< nodes that a fault has, and that of the watcher
};

void Author::choose_fabric() {
  FatTreeSpec& spec = scenario_.fabric;
  static constexpr SpeedMask kSpeeds[] = {kSpeedHdr, kSpeedNdr, kSpeedXdr};
  spec.speed = random_.pick(kSpeeds);
  const bool day = is_day();
  const bool large = scale_ == Scale::kMixed && (day || random_.chance(0.04));
  switch (random_.below(3)) {
    case 0:
      spec = {.levels = 2,
              .hosts = large ? 512U : 64U,
              .rails = 1,
              .hosts_per_leaf = large ? 16U : 8U,
              .uplinks = large ? 16U : 8U,
              .speed = spec.speed};
      break;
    case 1:
      spec = {.levels = 3,
              .hosts = large ? 1024U : 64U,
              .rails = 1,
              .hosts_per_leaf = large ? 16U : 4U,
              .uplinks = large ? 16U : 4U,
              .leaves_per_pod = large ? 16U : 4U,
              .core_uplinks = large ? 16U : 4U,
              .speed = spec.speed};
      break;
    default:
      spec = {.levels = 2,
              .hosts = large ? 128U : 16U,
              .rails = large ? 8U : 4U,
              .hosts_per_leaf = large ? 16U : 8U,
              .uplinks = large ? 16U : 8U,
              .speed = spec.speed};
  }
  if (ethernet_) {
    spec.layer = LinkLayer::kEthernet;
    spec.hash = random_.below(1'000'000'000);
    // Flows that collide are to be seen by switches only.
    scenario_.switch_collectors = random_.chance(0.5) || scenario_.group.ends_with(to_string(FaultKind::kCollision));
  }
  plan_ = *lay_out(spec);
  taken_.insert(plan_.adapters[0]);
  taken_.insert(plan_.ports[plan_.access_port(0)].node);
}

void Author::choose_jobs() {
  // Jobs stand side by side, as a scheduler that knows the topology places them; rails talk within themselves.
  const std::uint32_t rails = plan_.spec.rails;
  const std::uint32_t hosts = plan_.spec.hosts;
  const std::uint32_t storage = std::max(1U, hosts / 16);
  const std::uint32_t parts = 1 + random_.below(2);
  for (std::uint32_t part = 0; part < parts; ++part) {
    static constexpr JobKind kCollectives[] = {JobKind::kRing, JobKind::kTree, JobKind::kAllToAll, JobKind::kPipeline};
    Job job{.kind = random_.pick(kCollectives),
            .period = random_.uniform(1, 6) * (scenario_.interval > 1 ? 10 : 1),
            .communication = random_.uniform(0.3, 0.9),
            .load = random_.uniform(0.4, 0.9)};
    const std::uint32_t first = (hosts - storage) * part / parts;
    const std::uint32_t last = (hosts - storage) * (part + 1) / parts;
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
      job.members.clear();
      for (std::uint32_t host = first; host < last; ++host) job.members.push_back(host * rails + rail);
      scenario_.jobs.push_back(job);
    }
  }
  Job burst{.kind = JobKind::kStorage,
            .period = random_.uniform(20, 60),
            .communication = random_.uniform(0.05, 0.2),
            .load = 0.2};
  for (std::uint32_t host = 0; host < hosts - storage; ++host) burst.members.push_back(host * rails);
  for (std::uint32_t host = hosts - storage; host < hosts; ++host) burst.targets.push_back(host * rails);
  scenario_.jobs.push_back(burst);
}

PortIndex Author::any_link(bool access, bool inner) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const PortIndex port = random_.below(plan_.ports.size());
    if (plan_.ports[port].peer == kNoIndex || !is_free(port)) continue;
    const bool is_access =
        plan_.tier_of(port) == Tier::kAdapter || plan_.tier_of(plan_.ports[port].peer) == Tier::kAdapter;
    if ((is_access && access) || (!is_access && inner)) return port;
  }
  return kNoIndex;
}

/// Hosts of one leaf to hosts elsewhere whose flows the leaf's hash puts on one uplink.
void Author::collide(const ForwardingTables& tables, std::span<const PortIndex> peers,
                     std::span<const std::uint32_t> here, Fault& fault) {
  constexpr std::size_t kFlows = 4;
  std::vector<PortIndex> path;
  std::set<std::uint32_t> used;
  for (const std::uint32_t from : here) {
    if (fault.endpoints.size() == 2 * kFlows) return;
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::uint32_t to = any_endpoint();
      if (used.contains(to) || !tables.path(plan_, peers, from, to, path)) continue;
      if (path.size() < 3 || path[1] != fault.port) continue;
      used.insert(to);
      fault.endpoints.push_back(from);
      fault.endpoints.push_back(to);
      break;
    }
  }
}

bool Author::place_congestion(Fault& fault) {
  if (fault.kind == FaultKind::kIncast) {
    const std::uint32_t target = any_endpoint();
    fault.port = plan_.access_port(target);
    if (taken_.contains(plan_.adapters[target])) return false;
    const std::uint32_t senders = 4 + random_.below(12);
    std::set<std::uint32_t> from;
    for (int attempt = 0; attempt < 100 && from.size() < senders; ++attempt)
      if (const std::uint32_t endpoint = any_endpoint(); endpoint != target) from.insert(endpoint);
    fault.endpoints.assign(from.begin(), from.end());
    return true;
  }
  // Several hosts of one leaf to hosts elsewhere that the tables send through the same uplink.
  const auto [peers, usable] = cabling_of(plan_);
  const ForwardingTables tables(plan_, peers, usable);
  const NodeIndex leaf = random_.pick(plan_.leaves);
  std::vector<std::uint32_t> here;
  for (std::uint32_t endpoint = 0; endpoint < plan_.adapters.size(); ++endpoint)
    if (plan_.ports[plan_.access_port(endpoint)].node == leaf) here.push_back(endpoint);
  const auto uplink = static_cast<std::uint8_t>(plan_.spec.hosts_per_leaf + 1 + random_.below(plan_.spec.uplinks));
  fault.port = plan_.port(leaf, uplink);
  if (ethernet_) {
    collide(tables, peers, here, fault);
    return fault.endpoints.size() >= 6;
  }
  std::vector<std::uint32_t> there;
  for (std::uint32_t endpoint = 0; endpoint < plan_.adapters.size(); ++endpoint)
    if (tables.port(leaf, endpoint) == uplink) there.push_back(endpoint);
  for (std::size_t i = 0; i < std::min({here.size(), there.size(), std::size_t{4}}); ++i) {
    fault.endpoints.push_back(here[i]);
    fault.endpoints.push_back(there[there.size() - 1 - i]);
  }
  return fault.endpoints.size() >= 6;
}

/// Where packets of a collective pass: what nothing crosses loses nothing, and nobody can tell.
bool Author::place_loss(Fault& fault) {
  auto capacity = std::make_shared<Capacity>();
  Cabling cabling = cabling_of(plan_);
  auto tables = std::make_shared<const ForwardingTables>(plan_, cabling.peers, cabling.usable);
  capacity->peers = std::move(cabling.peers);
  Traffic traffic(plan_, scenario_.jobs, 1);
  traffic.set_fabric(std::move(tables), std::move(capacity));
  const std::vector<std::uint8_t> used = traffic.collective_ports();
  fault.amount = random_.log_uniform(1e-4, 1e-2);
  if (fault.kind == FaultKind::kLossOnLink) {
    fault.port = any_link(true, true);
    if (fault.port == kNoIndex || !used[fault.port]) return false;
    take(fault.port);
    return true;
  }
  fault.node = random_.pick(random_.chance(0.5) ? plan_.leaves : plan_.spines);
  const Node& node = plan_.nodes[fault.node];
  const auto first = used.begin() + static_cast<std::ptrdiff_t>(node.first_port);
  if (taken_.contains(fault.node) || std::find(first, first + node.port_entries(), 1) == first + node.port_entries())
    return false;
  taken_.insert(fault.node);
  return true;
}

bool Author::place(Fault& fault) {
  using enum FaultKind;
  switch (fault.kind) {
    case kIncast:
    case kCollision:
      return place_congestion(fault);
    case kLossOnLink:
    case kLossInSwitch:
      return place_loss(fault);
    case kSwitchDown:
    case kOversubscription: {
      const bool leaves_only = fault.kind == kOversubscription;
      const auto& from = leaves_only || random_.chance(0.5) ? plan_.leaves : plan_.spines;
      fault.node = random_.pick(from);
      if (taken_.contains(fault.node)) return false;
      taken_.insert(fault.node);
      fault.amount = 0.25;
      return true;
    }
    case kHostDown:
    case kNodeSilent:
      fault.node = plan_.adapters[any_endpoint()];
      if (fault.kind == kNodeSilent && random_.chance(0.5)) fault.node = random_.pick(plan_.spines);
      if (taken_.contains(fault.node) ||
          (plan_.endpoint_of[fault.node] != kNoIndex && plan_.endpoint_of[fault.node] < plan_.spec.rails))
        return false;
      taken_.insert(fault.node);
      return true;
    case kSlowReceiver:
    case kPcieStall:
    case kPfcStorm:
    case kStraggler: {
      const std::uint32_t storage = std::max(1U, plan_.spec.hosts / 16) * plan_.spec.rails;
      const std::uint32_t endpoint = 1 + random_.below(plan_.adapters.size() - 1 - storage);
      fault.port = plan_.access_port(endpoint);
      fault.amount = fault.kind == kStraggler ? random_.uniform(1.5, 4) : random_.uniform(0.05, 0.3);
      // Flows that a hash puts together leave less for each.
      if (ethernet_ && fault.kind != kStraggler) fault.amount /= 3;
      return !taken_.contains(plan_.adapters[endpoint]);
    }
    case kCrossedCables:
    case kDeadlock: {
      // Two uplinks of different leaves, to different spines.
      fault.port = any_link(false, true);
      if (fault.port == kNoIndex) return false;
      if (plan_.tier_of(fault.port) > plan_.tier_of(plan_.ports[fault.port].peer))
        fault.port = plan_.ports[fault.port].peer;
      if (plan_.tier_of(fault.port) != Tier::kLeaf) return false;
      const NodeIndex leaf = plan_.ports[fault.port].node;
      for (int attempt = 0; attempt < 100; ++attempt) {
        const PortIndex other = any_link(false, true);
        if (other == kNoIndex || plan_.tier_of(other) != Tier::kLeaf || plan_.ports[other].node == leaf) continue;
        const NodeIndex spine = plan_.ports[plan_.ports[fault.port].peer].node;
        const NodeIndex other_spine = plan_.ports[plan_.ports[other].peer].node;
        if (spine == other_spine) continue;
        const unsigned pod = plan_.spec.levels == 3 ? plan_.spec.leaves_per_pod : 0;
        if (pod > 0 && leaf / pod != plan_.ports[other].node / pod) continue;  // leaves are the first nodes
        fault.other = other;
        take(fault.port);
        take(other);
        return true;
      }
      return false;
    }
    case kCollectorDeath:
      return true;
    case kClockJump:
      fault.amount = (random_.chance(0.5) ? 1 : -1) * random_.log_uniform(2, 7200);
      return true;
    case kErrors:
      fault.amount = random_.log_uniform(3e-12, 1e-8);
      break;
    case kErrorsBelowLimit:
      fault.amount = random_.log_uniform(1e-15, 3e-13);
      break;
    case kOpticsDrift:
      fault.amount = random_.uniform(2, 8);
      break;
    case kOpticsFading:
      fault.amount = random_.uniform(1, 2.5);
      break;
    default:
      break;
  }
  fault.port = any_link(true, true);
  if (fault.port == kNoIndex) return false;
  take(fault.port);
  return true;
}

void Author::add_fault(FaultKind kind) {
  using enum FaultKind;
  double lasts = random_.uniform(30, 60);
  if (kind == kFlapSlow) lasts = random_.uniform(380, 500);
  if (kind == kFlapFast || kind == kFlapSubSample) lasts = random_.uniform(60, 120);
  if (kind == kErrors || kind == kErrorBursts || kind == kOpticsDrift) lasts = random_.uniform(150, 200);
  if (kind == kErrorsBelowLimit) lasts = random_.uniform(200, 400);
  if (kind == kOpticsFading) lasts = random_.uniform(1.5 * 3600, 3 * 3600);
  const double calm = kind == kOpticsFading ? kLearning : kCalm;
  for (int attempt = 0; attempt < 100; ++attempt) {
    Fault fault{.kind = kind};
    fault.start = calm + random_.uniform(0, 10);
    fault.end = fault.start + lasts;
    if (kind == kCrossedCables) fault.end = std::numeric_limits<double>::infinity();
    if (!place(fault)) continue;
    scenario_.duration = std::max(scenario_.duration, fault.start + lasts + 25);
    scenario_.faults.push_back(std::move(fault));
    return;
  }
}

}  // namespace

Case write_case(std::string_view group, std::uint64_t seed, Scale scale) {
  return Author(group, seed, scale).write();
}

}  // namespace weft::scenarios
