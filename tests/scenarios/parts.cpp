// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/parts.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "tests/scenarios/actions.hpp"

namespace weft::scenarios {
namespace {

/// Seconds before anything happens, and after the last thing that does.
constexpr double kBeforeParts = 15, kAfterParts = 30;
/// NodeInfo.DeviceID of a switch two ports of which share a cage.
constexpr std::uint16_t kTwinCages = 0xD2F2;

class Workshop {
 public:
  Workshop(Random& random, Case& made) : random_(random), made_(made), plan_(made.plan) {
    used_.insert(plan_.adapters[0]);  // the watcher's
  }

  void cable();
  void host();
  void switch_();
  void module();
  void swap_in_vain();
  void swap_moved();
  void swap_done();

 private:
  void add(double at, ActionKind kind, std::uint32_t a, double value = 0, std::uint32_t b = kNoIndex) {
    made_.scenario.actions.push_back({.at = at, .kind = kind, .a = a, .b = b, .value = value});
    end_ = std::max(end_, at);
  }
  PortIndex far(PortIndex port) const { return plan_.ports[port].peer; }
  bool is_access(PortIndex port) const { return plan_.endpoint_at(port) != kNoIndex; }
  /// Of an Ethernet fabric whose switches nobody reads, cables between them are not seen.
  bool is_seen(PortIndex port) const {
    return is_access(port) || !plan_.is_ethernet() || made_.scenario.switch_collectors;
  }
  /// Down at that moment, and up again some seconds later; the time when it is.
  double cut(PortIndex port, double at, double shortest = 1.2, double longest = 3) {
    const double back = at + random_.uniform(shortest, longest);
    add(at, ActionKind::kCut, port);
    add(back, ActionKind::kJoin, port, random_.uniform(0.3, 1.2));
    return back;
  }
  /// Several times; the time after the last of them.
  double flap(PortIndex port, double at, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) at = cut(port, at) + random_.uniform(12, 35);
    return at;
  }
  /// What the port receives is damaged.
  void hurt(PortIndex receiver, double from, double to, double rate) {
    add(from, ActionKind::kErrorRate, receiver, rate);
    add(to, ActionKind::kErrorRate, receiver, 0);
  }
  /// In both directions, or in one.
  void hurt_link(PortIndex port, double from, double to, double both) {
    const double rate = random_.log_uniform(1e-12, 1e-9);
    const bool is_both = random_.chance(both), is_here = random_.chance(0.5);
    if (is_both || is_here) hurt(port, from, to, rate * random_.uniform(0.3, 3));
    if (is_both || !is_here) hurt(far(port), from, to, rate * random_.uniform(0.3, 3));
  }
  std::uint32_t times() { return 3 + random_.below(4); }
  double start() { return kBeforeParts + random_.uniform(0, 10); }
  PortIndex any_link(bool access_only);
  /// The ends of the cable at an endpoint have the modules of these numbers.
  void plug(PortIndex port, double at, unsigned near, unsigned at_far, bool is_fixed) {
    add(at, ActionKind::kModule, port, near, is_fixed ? 1 : 0);
    add(at, ActionKind::kModule, far(port), at_far, is_fixed ? 1 : 0);
  }
  /// All hosts have modules that nobody touches.
  void plug_all(bool is_fixed);
  void disturb(PortIndex port, double from, double to);
  void expect(PortIndex port, std::vector<LinkPart> parts, std::vector<NodeGuid> nodes);
  void tell(PortIndex port);
  std::vector<NodeGuid> adapters_at(PortIndex port) const;
  void finish() {
    made_.scenario.duration = end_ + kAfterParts;
    for (RightAdvice& right : made_.scenario.advice) right.until = made_.scenario.duration;
    for (Truth& truth : made_.scenario.truths) truth.end = made_.scenario.duration;
  }

  Random& random_;
  Case& made_;
  const Plan& plan_;
  std::set<NodeIndex> used_;
  double end_ = 0;
  unsigned modules_ = 1000;
};

PortIndex Workshop::any_link(bool access_only) {
  const std::vector<PortIndex> cables = plan_.cables();
  while (true) {
    PortIndex port = random_.pick(cables);
    if (plan_.tier_of(port) > plan_.tier_of(far(port))) port = far(port);  // the lower end
    if (used_.contains(plan_.ports[port].node) || !is_seen(port) || (access_only && !is_access(port))) continue;
    used_.insert(plan_.ports[port].node);
    return port;
  }
}

std::vector<NodeGuid> Workshop::adapters_at(PortIndex port) const {
  std::vector<NodeGuid> guids;
  const std::uint32_t endpoint = plan_.endpoint_at(port);
  if (endpoint == kNoIndex) return guids;
  for (const NodeIndex adapter : adapters_of_host(plan_, plan_.adapters[endpoint]))
    guids.push_back(plan_.nodes[adapter].guid);
  return guids;
}

void Workshop::plug_all(bool is_fixed) {
  for (std::uint32_t endpoint = 0; endpoint < plan_.adapters.size(); ++endpoint) {
    const unsigned near = ++modules_;
    plug(plan_.endpoint_port(endpoint), 0, near, is_fixed ? near : ++modules_, is_fixed);
  }
}

/// That it is in trouble may be said by any name that fits; what counts here is the advice.
void Workshop::tell(PortIndex port) {
  Truth& truth = made_.scenario.truths.emplace_back();
  truth.fault = FaultKind::kFlapFast;
  truth.kind = IncidentKind::kLinkFlap;
  truth.also = {IncidentKind::kLinkDown,      IncidentKind::kLinkErrors, IncidentKind::kNodeDown,
                IncidentKind::kTelemetryLost, IncidentKind::kRdmaErrors, IncidentKind::kSilentLoss};
  const LinkKey key = plan_.link_of(port);
  truth.culprits.push_back({EntityKind::kLink, key.low, key.high});
  for (const PortIndex side : {port, far(port)})
    truth.culprits.push_back({EntityKind::kNode, {plan_.nodes[plan_.ports[side].node].guid, {}}, {}});
  truth.start = 0;
  truth.counts = false;
}

void Workshop::expect(PortIndex port, std::vector<LinkPart> parts, std::vector<NodeGuid> nodes) {
  const LinkKey key = plan_.link_of(port);
  made_.scenario.advice.push_back({{{EntityKind::kLink, key.low, key.high}}, std::move(parts), std::move(nodes), 0});
}

/// What has nothing to do with it: bursts at both ends, an adapter that is started anew while the link is down anyway,
/// another link that flaps elsewhere.
void Workshop::disturb(PortIndex port, double from, double to) {
  for (const PortIndex side : {port, far(port)})
    for (std::uint32_t i = random_.chance(0.5) ? 1 + random_.below(2) : 0; i > 0; --i)
      add(random_.uniform(from, to), ActionKind::kBurst, side, std::round(random_.log_uniform(5, 500)));
  if (random_.chance(0.3)) {
    const PortIndex other = any_link(false);
    tell(other);
    flap(other, random_.uniform(from, to), 3);
  }
}

void Workshop::cable() {
  const PortIndex port = any_link(false);
  const double from = start();
  const std::uint32_t downs = times();
  double at = from + random_.uniform(8, 20);
  const std::uint32_t with_start = is_access(port) && random_.chance(0.3) ? random_.below(downs) : downs;
  for (std::uint32_t i = 0; i < downs; ++i) {
    if (i == with_start) add(at + 0.5, ActionKind::kClear, plan_.tier_of(port) == Tier::kAdapter ? port : far(port));
    at = cut(port, at) + random_.uniform(12, 35);
  }
  hurt_link(port, from, at, 0.7);
  disturb(port, from, at);
  tell(port);
  expect(port, {LinkPart::kCable, LinkPart::kModule}, {});
  finish();
}

void Workshop::host() {
  const std::uint32_t rails = plan_.spec.rails;
  const std::uint32_t host = 1 + random_.below(plan_.spec.hosts - 1);
  std::vector<PortIndex> ports;
  for (std::uint32_t rail = 0; rail < rails; ++rail) ports.push_back(plan_.endpoint_port(host * rails + rail));
  for (const PortIndex port : ports) used_.insert(plan_.ports[port].node);
  const double from = start();
  double last = from;
  const bool starts = rails == 1 || random_.chance(0.5);
  if (starts) {
    // One adapter, or its driver, begins anew; its counters begin at zero, now and then unseen.
    const PortIndex port = random_.pick(ports);
    for (std::uint32_t i = times(); i > 0; --i) {
      if (i == 1 || random_.chance(0.85)) add(last + 0.6, ActionKind::kClear, port);
      last = cut(port, last, 1.5, 5) + random_.uniform(12, 35);
    }
    ports = {port};
  } else {
    // Several adapters lose their links, each in its own time.
    ports.resize(2 + random_.below(rails - 1));
    const bool errs = random_.chance(0.4);
    for (const PortIndex port : ports) {
      const double end = flap(port, from + random_.uniform(0, 15), times());
      if (errs) hurt(random_.chance(0.5) ? port : far(port), from, end, random_.log_uniform(1e-12, 1e-9));
      last = std::max(last, end);
    }
  }
  disturb(ports[0], from, last);
  for (const PortIndex port : ports) tell(port);
  expect(ports[0], {LinkPart::kHost}, adapters_at(ports[0]));
  finish();
}

void Workshop::switch_() {
  const NodeIndex node = random_.pick(plan_.is_ethernet() && !made_.scenario.switch_collectors ? plan_.leaves
                                      : random_.chance(0.5)                                    ? plan_.leaves
                                                                                               : plan_.spines);
  std::vector<PortIndex> ports;
  for (unsigned number = 1; number <= plan_.nodes[node].port_count; ++number) {
    const PortIndex port = plan_.port(node, number);
    if (far(port) != kNoIndex && is_seen(port) && !used_.contains(plan_.ports[far(port)].node)) ports.push_back(port);
  }
  for (std::size_t i = ports.size(); i > 1; --i) std::swap(ports[i - 1], ports[random_.below(i)]);
  ports.resize(std::min<std::size_t>(ports.size(), 3 + random_.below(4)));
  used_.insert(node);
  const double from = start();
  double last = from;
  const bool errs = random_.chance(0.5);
  for (const PortIndex port : ports) {
    used_.insert(plan_.ports[far(port)].node);
    const double end = flap(port, from + random_.uniform(0, 20), times());
    if (errs) hurt_link(port, from, end, 0.3);
    last = std::max(last, end);
    tell(port);
  }
  disturb(ports[0], from, last);
  expect(ports[0], {LinkPart::kSwitch}, {plan_.nodes[node].guid});
  finish();
}

void Workshop::module() {
  for (Node& node : made_.plan.nodes)
    if (node.type == NodeType::kSwitch) node.device_id = kTwinCages;
  NodeIndex node = kNoIndex;
  std::vector<PortIndex> ports;
  while (ports.empty()) {
    node = random_.pick(random_.chance(0.5) ? plan_.leaves : plan_.spines);
    const unsigned first = 1 + 2 * random_.below(plan_.nodes[node].port_count / 2);
    for (const unsigned number : {first, first + 1}) {
      const PortIndex port = plan_.port(node, number);
      if (far(port) != kNoIndex && !used_.contains(plan_.ports[far(port)].node)) ports.push_back(port);
    }
    if (ports.size() < 2) ports.clear();
  }
  for (const PortIndex port : ports) used_.insert(plan_.ports[far(port)].node);
  used_.insert(node);
  const double from = start();
  double last = from;
  const bool together = random_.chance(0.5);
  const std::uint32_t downs = times();
  double at = from + random_.uniform(5, 15);
  for (std::uint32_t i = 0; together && i < downs; ++i, at += random_.uniform(15, 35))
    for (const PortIndex port : ports) cut(port, at + random_.uniform(0, 0.5));
  for (const PortIndex port : ports) {
    const double end = together ? at : flap(port, from + random_.uniform(0, 20), downs);
    if (random_.chance(0.7)) hurt(random_.chance(0.5) ? port : far(port), from, end, random_.log_uniform(1e-12, 1e-9));
    last = std::max(last, end);
    tell(port);
  }
  disturb(ports[0], from, last);
  expect(ports[0], {LinkPart::kModule}, {plan_.nodes[node].guid});
  finish();
}

/// A port is bad, and the cable is replaced.
void Workshop::swap_in_vain() {
  plug_all(true);
  const PortIndex port = any_link(true);
  const PortIndex bad = random_.chance(0.5) ? port : far(port);
  const double from = start();
  const double swap = flap(port, from + 10, 3 + random_.below(2)) + random_.uniform(5, 30);
  const double plugged = cut(port, swap, 20, 60);
  plug(port, plugged - 1, modules_ + 1, modules_ + 1, true);
  const double again = plugged + random_.uniform(140, 200);
  const double end = flap(port, again, times());
  const bool sends = random_.chance(0.5);  // its transmitter or its receiver
  const PortIndex receiver = sends ? far(bad) : bad;
  const double rate = random_.log_uniform(1e-12, 1e-9);
  if (random_.chance(0.7)) {
    hurt(receiver, from, swap, rate);
    hurt(receiver, again - 10, end, rate);
  }
  disturb(port, from, end);
  tell(port);
  expect(port, {LinkPart::kHost, LinkPart::kSwitch}, {});
  finish();
}

/// A module, or a cable with its modules, is bad, and changes places with another one. The trouble goes with it.
void Workshop::swap_moved() {
  const bool is_fixed = random_.chance(0.3);
  plug_all(is_fixed);
  const PortIndex first = any_link(true), second = any_link(true);
  const double from = start();
  const double swap = flap(first, from + 10, 3 + random_.below(2)) + random_.uniform(5, 30);
  const double plugged = std::max(cut(first, swap, 20, 60), cut(second, swap, 20, 60));
  // plug_all() numbers them in the order of the endpoints.
  const auto number = [&](PortIndex port) { return 1001 + plan_.endpoint_at(port) * (is_fixed ? 1 : 2); };
  for (const auto& [to, of] : {std::pair{first, second}, std::pair{second, first}}) {
    add(plugged, ActionKind::kModule, to, number(of), is_fixed ? 1 : 0);
    if (is_fixed) add(plugged, ActionKind::kModule, far(to), number(of), 1);
  }
  const double again = plugged + random_.uniform(140, 200);
  const double end = flap(second, again, times());
  const double rate = random_.log_uniform(1e-12, 1e-9);
  const bool is_near = random_.chance(0.5);
  if (random_.chance(0.8)) {
    hurt(is_near ? first : far(first), from, swap, rate);
    hurt(is_near ? second : far(second), again - 10, end, rate);
  }
  disturb(second, from, end);
  tell(first);
  tell(second);
  if (is_fixed)
    expect(second, {LinkPart::kCable}, {});
  else
    expect(second, {LinkPart::kModule}, adapters_at(second));
  finish();
}

/// The cable is bad, is replaced, and that was it.
void Workshop::swap_done() {
  plug_all(true);
  const PortIndex port = any_link(true);
  const double from = start();
  const double swap = flap(port, from + 10, 3 + random_.below(3)) + random_.uniform(5, 30);
  hurt_link(port, from, swap, 0.7);
  disturb(port, from, swap);
  const double plugged = cut(port, swap, 20, 60);
  plug(port, plugged - 1, modules_ + 1, modules_ + 1, true);
  end_ = plugged + random_.uniform(11, 14) * 60;
  tell(port);
  expect(port, {LinkPart::kCable, LinkPart::kModule}, {});
  finish();
}

struct PartGroup {
  std::string_view name;
  void (Workshop::*make)();
  bool ethernet;
};
constexpr PartGroup kPartGroups[] = {
    {"cable_part", &Workshop::cable, true},          {"host_part", &Workshop::host, true},
    {"switch_part", &Workshop::switch_, true},       {"module_part", &Workshop::module, false},
    {"swap_in_vain", &Workshop::swap_in_vain, true}, {"swap_moved", &Workshop::swap_moved, true},
    {"swap_done", &Workshop::swap_done, true}};

}  // namespace

const std::vector<std::string_view>& part_groups() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const PartGroup& group : kPartGroups) names.push_back(group.name);
    return names;
  }();
  return kNames;
}

bool is_on_ethernet(std::string_view part_group) {
  const auto found = std::ranges::find(kPartGroups, part_group, &PartGroup::name);
  return found != std::end(kPartGroups) && found->ethernet;
}

bool break_part(std::string_view part_group, Random& random, Case& quiet) {
  const auto found = std::ranges::find(kPartGroups, part_group, &PartGroup::name);
  if (found == std::end(kPartGroups)) return false;
  Workshop workshop(random, quiet);
  (workshop.*found->make)();
  return true;
}

}  // namespace weft::scenarios
