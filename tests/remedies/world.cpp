// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/world.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft::remedies {
namespace {

using namespace std::chrono_literals;

constexpr Duration kInterval = 1s;

}  // namespace

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
    if (landing.at <= steady() && holder(landing.is_link, landing.index) != Holder::kSomebodyElse &&
        !(landing.costly && is_cost_foreign(landing.index))) {
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

std::set<std::uint64_t> World::troubles_of(bool is_link, unsigned index) const {
  std::set<std::uint64_t> troubles;
  if (is_link)
    troubles.insert(incident_of_link_[index]);
  else
    troubles.insert(incidents_of_host_[index].begin(), incidents_of_host_[index].end());
  troubles.erase(0);
  return troubles;
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
  disabled_by_hand_ &= ~(1U << index);
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

// Trouble that lasts is seen with each sweep, at a link that carries traffic.
void World::see_again() {
  for (auto& incident : incidents_) {
    if (!incident->is_open()) continue;
    const auto [is_link, index] = find(incident->finding.cause);
    if (is_link && (seen_up_ >> index & 1U) == 0) continue;
    auto later = std::make_shared<Incident>(*incident);
    for (Evidence& evidence : later->finding.evidence) evidence.observed = now_;
    incident = std::move(later);
  }
}

analyzer::RemedyView World::look() {
  if (!blind_) {
    seen_up_ = links_up();
    known_costly_ = costly_;
    Shape::Picture picture = shape_->picture(seen_up_, links_seen_up());
    Oddities odd{misnamed_, silent_};
    if (odd.any() && (!drawn_ || drawn_up_ != seen_up_ || seen_odd_ != odd)) {
      drawn_ = shape_->topology(seen_up_, odd);
      drawn_up_ = seen_up_;
    }
    if (odd.any()) picture.topology = drawn_;
    seen_odd_ = std::move(odd);
    missing_.swept(silent_, steady());
    auto sweep = std::make_shared<Sweep>();
    sweep->fabric = kFabric;
    sweep->started = sweep->finished = now_;
    sweep->interval = kInterval;
    sweep->topology = picture.topology;
    // Of silent nodes nothing is read.
    for (const Port& port : picture.topology->ports())
      sweep->state_read_at.push_back(picture.topology->node_of(port).reachable ? now_ : kNever);
    sweep->subnet_manager = shape_->manager();
    sweep->routes = picture.routes;
    fabrics_[0].sweep = std::move(sweep);
    fabrics_[0].watching = true;
    see_again();
  }
  managers_[kFabric] = manager_;
  return {now_, fabrics_, incidents_, host_views_, health_, {}, {}, steady(), &managers_};
}

std::pair<bool, unsigned> World::find(const Entity& target) const {
  for (unsigned link = 0; link < shape_->links(); ++link)
    if (shape_->link(link).same_as(target)) return {true, link};
  for (unsigned host = 0; host < shape_->hosts(); ++host)
    if (shape_->host(host) == target.host) return {false, host};
  throw std::logic_error("an order for what is not there: " + target.identity());
}

bool World::others_avoid(Avoided by, unsigned link, bool avoid) {
  if (by == Avoided::kByCost && links_[link] == Holder::kWeft) return false;
  std::uint32_t& links = avoided_[static_cast<std::size_t>(by)];
  links = avoid ? links | 1U << link : links & ~(1U << link);
  return true;
}

void World::lay_rails() {
  fabrics_[0].places = shape_->places();
}

TargetReading World::read(const Entity& target, bool by_cost) {
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
      if (is_link && !by_cost && is_disabled_by_hand(index)) return {TargetState::kOurs, "disabled", others};
      return {TargetState::kForeign, "out by somebody", others};
    case Holder::kNobody:
      if (is_link && by_cost && is_cost_foreign(index)) return {TargetState::kForeign, "its cost is raised", others};
      break;
  }
  return {TargetState::kClear, "in service", others};
}

bool World::is_disabled(const RemedyOrder& order) const {
  if (order.action != RemedyAction::kIsolateLink) return false;
  const auto [is_link, index] = find(order.target);
  return holder(is_link, index) == Holder::kWeft || is_disabled_by_hand(index);
}

Act World::act(const RemedyOrder& order, bool takes, Duration late) {
  const auto [is_link, index] = find(order.target);
  Act act{order, holder(is_link, index), is_link, index};
  const bool costly = order.action == RemedyAction::kRaiseLinkCost;
  if (costly && is_cost_foreign(index)) act.before = Holder::kSomebodyElse;
  const Holder wanted = takes_out(order.action) ? Holder::kWeft : Holder::kNobody;
  if (!takes || act.before == Holder::kSomebodyElse) return act;
  if (late > Duration::zero())
    landing_.push_back({steady() + late, is_link, index, wanted, costly});
  else
    set(is_link, index, wanted, costly);
  return act;
}

}  // namespace weft::remedies
