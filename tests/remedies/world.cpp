// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/world.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft::remedies {
namespace {

using namespace std::chrono_literals;

constexpr const char* kFabric = "f";
constexpr Duration kInterval = 1s;

NodeGuid guid(std::uint64_t value) {
  return {0x1000 + value};
}

}  // namespace

Shape::Shape(unsigned spines, unsigned leaves, unsigned hosts) : spines_(spines), leaves_(leaves), hosts_(hosts) {
  const auto add = [this](NodeType type, std::string name, std::uint8_t ports) {
    Node node;
    node.guid = guid(nodes_.size());
    node.type = type;
    node.port_count = ports;
    node.first_port = static_cast<PortIndex>(ports_.size());
    node.name = node.description = std::move(name);
    const auto index = static_cast<NodeIndex>(nodes_.size());
    for (std::uint32_t number = node.lowest_port(); number <= ports; ++number) {
      Port port;
      port.node = index;
      port.number = {static_cast<std::uint8_t>(number)};
      port.guid = {node.guid.value};
      port.state = PortState::kActive;
      port.physical_state = PortPhysicalState::kLinkUp;
      port.width_active = port.width_enabled = port.width_supported = 2;
      port.speed_active = port.speed_enabled = port.speed_supported = kSpeedHdr;
      if (type != NodeType::kSwitch || number == 0) port.lid = {static_cast<std::uint16_t>(index + 1)};
      ports_.push_back(port);
    }
    nodes_.push_back(std::move(node));
    return index;
  };
  const auto connect = [this](PortIndex a, PortIndex b) {
    ports_[a].peer = b;
    ports_[b].peer = a;
  };
  std::vector<NodeIndex> spine_nodes, leaf_nodes;
  for (unsigned s = 0; s < spines; ++s)
    spine_nodes.push_back(add(NodeType::kSwitch, "spine-" + std::to_string(s), static_cast<std::uint8_t>(leaves)));
  for (unsigned l = 0; l < leaves; ++l)
    leaf_nodes.push_back(
        add(NodeType::kSwitch, "leaf-" + std::to_string(l), static_cast<std::uint8_t>(hosts + spines)));
  for (unsigned l = 0; l < leaves; ++l) {
    for (unsigned s = 0; s < spines; ++s) {
      const PortIndex up = nodes_[leaf_nodes[l]].first_port + hosts + s + 1;
      const PortIndex down = nodes_[spine_nodes[s]].first_port + l + 1;
      connect(up, down);
      leaf_ends_.push_back(up);
      const LinkKey key = make_link_key({nodes_[leaf_nodes[l]].guid, ports_[up].number},
                                        {nodes_[spine_nodes[s]].guid, ports_[down].number});
      link_entities_.push_back({.kind = EntityKind::kLink,
                                .fabric = kFabric,
                                .port = key.low,
                                .peer = key.high,
                                .label = nodes_[leaf_nodes[l]].name + " - " + nodes_[spine_nodes[s]].name});
    }
    for (unsigned h = 0; h < hosts; ++h) {
      host_names_.push_back("h" + std::to_string(l * hosts + h));
      const NodeIndex adapter = add(NodeType::kChannelAdapter, host_names_.back(), 1);
      connect(nodes_[leaf_nodes[l]].first_port + h + 1, nodes_[adapter].first_port);
    }
  }
}

std::vector<Port> Shape::ports_with(std::uint32_t up) const {
  std::vector<Port> ports = ports_;
  for (unsigned link = 0; link < links(); ++link) {
    if ((up >> link & 1U) != 0) continue;
    for (const PortIndex end : {leaf_ends_[link], ports[leaf_ends_[link]].peer}) {
      ports[end].state = PortState::kDown;
      ports[end].physical_state = PortPhysicalState::kPolling;
    }
  }
  return ports;
}

std::shared_ptr<const Topology> Shape::misnamed(std::uint32_t up, const Misnamed& adapter) const {
  std::vector<Node> nodes = nodes_;
  Node& node = nodes[spines_ + leaves_ + adapter.host];
  node.name = node.description = adapter.name;
  return std::make_shared<const Topology>(1, std::move(nodes), ports_with(up), std::vector<DuplicateGuid>{});
}

Shape::Picture Shape::draw(std::uint32_t up) const {
  Picture picture;
  picture.topology = std::make_shared<const Topology>(1, nodes_, ports_with(up), std::vector<DuplicateGuid>{});
  // Down to a host of one's own leaf, up by the first spine that has both links, and from there down.
  RouteTables book(1);
  RouteBlock none;
  none.fill(kNoEgress.value);
  const auto host_leaf = [&](NodeIndex node) { return (node - spines_ - leaves_) / hosts_; };
  for (NodeIndex node = 0; node < spines_ + leaves_; ++node) {
    book.set_top(node, {static_cast<std::uint16_t>(nodes_.size())});
    RouteBlock block = none;
    for (NodeIndex to = spines_ + leaves_; to < nodes_.size(); ++to) {
      const unsigned leaf = host_leaf(to);
      std::uint8_t port = kNoEgress.value;
      if (node < spines_) {
        if ((up >> (leaf * spines_ + node) & 1U) != 0) port = static_cast<std::uint8_t>(leaf + 1);
      } else if (node - spines_ == leaf) {
        port = static_cast<std::uint8_t>((to - spines_ - leaves_) % hosts_ + 1);
      } else {
        const unsigned own = node - spines_;
        for (unsigned s = 0; s < spines_ && port == kNoEgress.value; ++s)
          if ((up >> (own * spines_ + s) & 1U) != 0 && (up >> (leaf * spines_ + s) & 1U) != 0)
            port = static_cast<std::uint8_t>(hosts_ + s + 1);
      }
      if (to + 1 < kRouteBlockSize) block[to + 1] = port;
    }
    book.set_block(node, 0, block);
  }
  picture.routes = book.publish();
  return picture;
}

Shape::Picture Shape::picture(std::uint32_t up, std::uint32_t ways) const {
  const auto drawn = [this](std::uint32_t links) -> const Picture& {
    const auto found = pictures_.find(links);
    return found != pictures_.end() ? found->second : pictures_.emplace(links, draw(links)).first->second;
  };
  const auto topology = drawn(up).topology;
  return {topology, drawn(ways).routes};
}

World::World(const Shape& shape, TimePoint now)
    : shape_(&shape),
      now_(now),
      links_(shape.links(), Holder::kNobody),
      hosts_(shape.hosts(), Holder::kNobody),
      links_changed_(shape.links()),
      hosts_changed_(shape.hosts()),
      incident_of_link_(shape.links(), 0),
      incidents_of_host_(shape.hosts()),
      mended_(shape.hosts()),
      reported_(shape.hosts(), Reported::kByItself),
      jobs_(shape.hosts()),
      by_other_weftd_(shape.hosts(), false),
      fabrics_(1),
      health_(shape.hosts()) {
  fabrics_[0].name = kFabric;
  for (unsigned host = 0; host < shape.hosts(); ++host) {
    health_[host].node = shape.host(host);
    health_[host].verdict = HealthVerdict::kHealthy;
  }
  show_hosts();
}

// A second one that reports a host's adapter is its neighbour.
void World::show_hosts() {
  host_views_.clear();
  for (unsigned host = 0; host < shape_->hosts(); ++host) {
    auto inventory = std::make_shared<HostInventory>();
    const auto add = [&inventory](NodeGuid adapter) { inventory->ports.emplace_back().node_guid = adapter; };
    if (reported_[host] != Reported::kByNobody) add(shape_->adapter(host));
    const unsigned neighbour = (host + 1) % shape_->hosts();
    if (reported_[neighbour] == Reported::kByTwo) add(shape_->adapter(neighbour));
    auto reading = std::make_shared<HostReading>();
    reading->inventory = std::move(inventory);
    reading->jobs = jobs_[host];
    auto view = std::make_shared<HostView>();
    view->host = shape_->host(host);
    view->state = CollectorState::kConnected;
    view->reading = std::move(reading);
    host_views_.push_back(std::move(view));
  }
}

void World::report(unsigned host, Reported how) {
  reported_[host] = how;
  show_hosts();
}

// Collectors report again meanwhile.
void World::rename(std::optional<Misnamed> adapter) {
  misnamed_ = std::move(adapter);
  show_hosts();
}

std::set<unsigned> World::leaves_with_job() const {
  std::set<unsigned> leaves;
  for (unsigned host = 0; host < shape_->hosts(); ++host)
    if (!jobs_[host].empty() && (reported_[host] != Reported::kByNobody || seen_name(host) == shape_->host(host)))
      leaves.insert(host / (shape_->hosts() / shape_->leaves()));
  return leaves;
}

int World::doubt_about(unsigned host) const {
  if (!fabrics_[0].sweep) return 1;  // before the first sweep nobody knows who else has the name
  const std::string& name = shape_->host(host);
  const unsigned neighbour = (host + 1) % shape_->hosts();
  // Its own collector reports it, and a foreign one: a person decides.
  const bool is_doubted = reported_[host] == Reported::kByTwo || reported_[neighbour] == Reported::kByTwo;
  bool is_known = reported_[host] != Reported::kByNobody, is_claimed = false, is_others = false;
  for (unsigned other = 0; other < shape_->hosts(); ++other) {
    if (seen_name(other) != name) continue;
    is_claimed |= reported_[other] == Reported::kByNobody;
    is_others |= other != host && reported_[other] == Reported::kByItself;
  }
  if (is_claimed || is_doubted) return 1;
  // Nothing is known to be its own, and what bears its name is another's.
  return !is_known && is_others ? 2 : 0;
}

void World::another_weftd_takes(unsigned host) {
  set(false, host, Holder::kSomebodyElse);
  by_other_weftd_[host] = true;
  ++other_mark_;
}

void World::pass(Duration time) {
  now_ += time;
  for (const Landing& landing : landing_)
    if (landing.at <= steady() && holder(landing.is_link, landing.index) != Holder::kSomebodyElse) {
      set(landing.is_link, landing.index, landing.holder, landing.costly);
      (landing.is_link ? links_changed_ : hosts_changed_)[landing.index] = landing.at;
    }
  std::erase_if(landing_, [this](const Landing& landing) { return landing.at <= steady(); });
}

std::uint64_t World::open(IncidentKind kind, Entity cause, bool two_signals) {
  auto incident = std::make_shared<Incident>();
  incident->id = next_incident_++;
  incident->finding.kind = kind;
  incident->finding.severity = Severity::kWarning;
  incident->finding.confidence = 0.9;
  incident->opened = incident->updated = now_;
  incident->beginnings = {now_};
  Evidence evidence;
  evidence.signal = "symbol_errors";
  evidence.observed = now_;
  evidence.where.kind = EntityKind::kPort;
  evidence.where.port = cause.port;
  incident->finding.evidence.push_back(evidence);
  if (two_signals) {
    evidence.where.port = cause.peer;
    evidence.signal = "link_downed";
    incident->finding.evidence.push_back(evidence);
  }
  incident->finding.summary = std::string(to_string(kind)) + " at " + cause.label;
  incident->finding.cause = std::move(cause);
  incidents_.push_back(std::move(incident));
  return incidents_.back()->id;
}

void World::close(std::uint64_t id) {
  for (auto& incident : incidents_) {
    if (incident->id != id) continue;
    auto over = std::make_shared<Incident>(*incident);
    over->state = IncidentState::kResolved;
    over->resolved = now_;
    incident = std::move(over);
  }
}

void World::fault(unsigned link, IncidentKind kind, bool two_signals) {
  if (incident_of_link_[link] != 0) return;
  // A link that is off shows nothing.
  if ((links_[link] != Holder::kNobody && !is_costly(link)) || (cut_ >> link & 1U) != 0) return;
  if (kind == IncidentKind::kLinkDown) cut_ |= 1U << link;
  incident_of_link_[link] = open(kind, shape_->link(link), two_signals);
}

void World::repair(unsigned link) {
  cut_ &= ~(1U << link);
  if (incident_of_link_[link] != 0) close(std::exchange(incident_of_link_[link], 0));
}

void World::break_host(unsigned host, unsigned adapter) {
  std::uint64_t& incident = incidents_of_host_[host][adapter];
  if (incident != 0) return;
  Entity cause{.kind = EntityKind::kHostPort, .fabric = {}, .port = {}, .peer = {}, .label = shape_->host(host)};
  cause.host = shape_->host(host);
  cause.device = "mlx5_" + std::to_string(adapter);
  incident = open(IncidentKind::kRdmaErrors, std::move(cause), true);
  show_health(host);
}

void World::mend_host(unsigned host, unsigned adapter) {
  std::uint64_t& incident = incidents_of_host_[host][adapter];
  if (incident == 0) return;
  close(std::exchange(incident, 0));
  mended_[host] = steady();
  show_health(host);
}

// One adapter of two degrades a host; what says so is the reason, and not the verdict alone.
void World::show_health(unsigned host) {
  NodeHealth& health = health_[host];
  health.reasons.clear();
  for (const std::uint64_t incident : incidents_of_host_[host]) {
    if (incident == 0) continue;
    health.reasons.emplace_back();
    health.reasons.back().incident = incident;
    health.reasons.back().severity = Severity::kWarning;
  }
  constexpr std::array kVerdicts{HealthVerdict::kHealthy, HealthVerdict::kDegraded, HealthVerdict::kUnhealthy};
  health.verdict = kVerdicts[health.reasons.size()];
}

bool World::was_hurt_within(unsigned host, Duration span) const {
  if (incidents_of_host_[host] != std::array<std::uint64_t, 2>{}) return true;
  return mended_[host] && steady() - *mended_[host] < span;
}

void World::set(bool is_link, unsigned index, Holder holder, bool costly) {
  (is_link ? links_ : hosts_)[index] = holder;
  (is_link ? links_changed_ : hosts_changed_)[index] = steady();
  if (!is_link) by_other_weftd_[index] = false;
  if (!is_link) return;
  costly_ &= ~(1U << index);
  if (costly) costly_ |= 1U << index;
}

void World::somebody_takes(bool is_link, unsigned index) {
  set(is_link, index, Holder::kSomebodyElse);
}
void World::somebody_gives_back(bool is_link, unsigned index) {
  set(is_link, index, Holder::kNobody);
}

void World::place_job(const std::string& name, const std::vector<unsigned>& hosts) {
  for (const unsigned host : hosts) jobs_[host] = {name};
  show_hosts();
}

std::uint32_t World::links_up() const {
  std::uint32_t up = (1U << shape_->links()) - 1;
  up &= ~cut_;
  for (unsigned link = 0; link < links_.size(); ++link)
    if (links_[link] != Holder::kNobody && !is_costly(link)) up &= ~(1U << link);
  return up;
}

analyzer::RemedyView World::look() {
  if (!blind_) {
    seen_up_ = links_up();
    known_costly_ = costly_;
    Shape::Picture picture = shape_->picture(seen_up_, links_seen_up());
    if (misnamed_ && (!drawn_ || drawn_up_ != seen_up_ || seen_misnamed_ != misnamed_)) {
      drawn_ = shape_->misnamed(seen_up_, *misnamed_);
      drawn_up_ = seen_up_;
    }
    seen_misnamed_ = misnamed_;
    if (misnamed_) picture.topology = drawn_;
    auto sweep = std::make_shared<Sweep>();
    sweep->fabric = kFabric;
    sweep->started = sweep->finished = now_;
    sweep->interval = kInterval;
    sweep->topology = picture.topology;
    sweep->subnet_manager = shape_->manager();
    sweep->routes = picture.routes;
    fabrics_[0].sweep = std::move(sweep);
    fabrics_[0].watching = true;
  }
  return {now_, fabrics_, incidents_, host_views_, health_, {}, {}, steady()};
}

std::pair<bool, unsigned> World::find(const Entity& target) const {
  for (unsigned link = 0; link < shape_->links(); ++link)
    if (shape_->link(link).same_as(target)) return {true, link};
  for (unsigned host = 0; host < shape_->hosts(); ++host)
    if (shape_->host(host) == target.host) return {false, host};
  throw std::logic_error("an order for what is not there: " + target.identity());
}

TargetReading World::read(const Entity& target) {
  const auto [is_link, index] = find(target);
  // Who reads a link's cost knows it, even with no sweep since.
  if (is_link) known_costly_ = (known_costly_ & ~(1U << index)) | (costly_ & 1U << index);
  // A scheduler's list shows the marks on all hosts.
  std::vector<PlanMark> others;
  if (!is_link && std::ranges::find(by_other_weftd_, true) != by_other_weftd_.end())
    others.push_back({other_mark_, "ffff0b7a5d3f2468"});
  switch (holder(is_link, index)) {
    case Holder::kWeft:
      return {TargetState::kOurs, "out by weft", others};
    case Holder::kSomebodyElse:
      return {TargetState::kForeign, "out by somebody", others};
    case Holder::kNobody:
      break;
  }
  return {TargetState::kClear, "in service", others};
}

Act World::act(const RemedyOrder& order, bool takes, Duration late) {
  const auto [is_link, index] = find(order.target);
  Act act{order, holder(is_link, index), is_link, index};
  const Holder wanted = analyzer::takes_out(order.action) ? Holder::kWeft : Holder::kNobody;
  if (!takes || act.before == Holder::kSomebodyElse) return act;
  const bool costly = order.action == RemedyAction::kRaiseLinkCost;
  if (late > Duration::zero())
    landing_.push_back({steady() + late, is_link, index, wanted, costly});
  else
    set(is_link, index, wanted, costly);
  return act;
}

}  // namespace weft::remedies
