// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/link_cases.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/advice/weights.hpp"

namespace weft::analyzer {
namespace {

/// Counts are of this time and what has passed of the next.
constexpr Duration kPeriod = std::chrono::hours(1);
/// Sweeps in which a link must have been up before its errors are not those of training.
constexpr unsigned kTrained = 3;

/// NodeInfo.DeviceID of switches whose ports 2n - 1 and 2n go through one cage, and of which vendor (IEEE OUI).
/// Quantum-2: 64 ports behind 32 twin-port OSFP cages (QM9700 user manual, "Port connector pinouts"; the PCI id list
/// has d2f2 as "MT54002 Quantum-2").
constexpr std::uint16_t kQuantum2 = 0xD2F2;

/// The port that shares a cage with that one, where the make of its switch is known to have such cages.
std::optional<PortNum> cage_mate(const Node& node, PortNum port) {
  if (node.type != NodeType::kSwitch || node.device_id != kQuantum2 || port.value == 0) return std::nullopt;
  const unsigned mate = port.value % 2 == 1 ? port.value + 1U : port.value - 1U;
  if (mate > node.port_count) return std::nullopt;
  return PortNum{static_cast<std::uint16_t>(mate)};
}

/// What the receiver of a cable counts when what arrives is damaged.
std::uint64_t received_errors(const ErrorDelta& delta) {
  return delta.symbol_errors + delta.link_error_recovery + delta.receive_errors + delta.local_link_integrity_errors +
         delta.fec_uncorrectable;
}

/// Was any counter of physical errors of the port read?
bool has_error_counters(const Sweep& sweep, PortIndex port) {
  if (port == kNoIndex || !sweep.counters || port >= sweep.counters->rows()) return false;
  return std::ranges::any_of(sweep.counters->counters(), [&](CounterId id) {
    return (id == CounterId::kSymbolErrors || id == CounterId::kReceiveErrors) &&
           sweep.counters->present(port, sweep.counters->column(id));
  });
}

}  // namespace

LinkCases::Known& LinkCases::known(LinkId link, TimePoint now) {
  Known& entry = known_[link];
  if (entry.since == kNever) entry.since = now;
  entry.touched = now;
  return entry;
}

/// Both ends tell of the same going down, at different moments.
void LinkCases::note_down(LinkId link, TimePoint now, Duration apart) {
  std::vector<TimePoint>& downs = known(link, now).downs;
  if (!downs.empty() && downs.back() <= now && now - downs.back() < apart) return;
  if (downs.size() == kMostDowns) downs.erase(downs.begin());
  downs.push_back(now);
}

void LinkCases::expire(TimePoint now) {
  for (auto entry = known_.begin(); entry != known_.end();) {
    Known& one = entry->second;
    one.since = std::min(one.since, now);  // the clock may have been set back
    one.touched = std::min(one.touched, now);
    if (now - one.since >= kPeriod) {
      one.low_before = std::exchange(one.low, {});
      one.high_before = std::exchange(one.high, {});
      one.before = std::exchange(one.since, now);
      std::erase_if(one.downs, [&](TimePoint at) { return at > now || now - at > 2 * kPeriod; });
    }
    entry = now - one.touched > 2 * kPeriod ? known_.erase(entry) : std::next(entry);
  }
  while (known_.size() > kMostLinks)
    known_.erase(std::ranges::min_element(known_, {}, [](const auto& entry) { return entry.second.touched; }));
}

void LinkCases::update(const Sweep& sweep, const LinkTable& table, const CounterPass& pass, TimePoint now) {
  const Duration apart = 3 * std::max<Duration>(sweep.interval, std::chrono::seconds(1));
  for (LinkId id = 0; id < table.links().size(); ++id) {
    const LinkState& link = table.links()[id];
    if (link.fell && !link.covered && link.down_since > updated_ && !link.is_disabled()) note_down(id, now, apart);
  }
  for (const ErrorDelta& delta : pass.errors) {
    const LinkId id = table.link_at(delta.port);
    if (id == kNoIndex) continue;
    const LinkState& link = table.links()[id];
    const std::uint64_t errors = received_errors(delta);
    const bool is_trained = link.view == LinkView::kUp && link.sweeps_in_view >= kTrained && delta.link_downed == 0;
    if (delta.link_downed == 0 && (errors == 0 || !is_trained)) continue;
    Known& entry = known(id, now);
    Counts& counts = link.low == delta.port ? entry.low : entry.high;
    if (delta.link_downed > 0) {
      counts.times_down += delta.link_downed;
      if (!link.covered) note_down(id, now, apart);
    } else {
      counts.errors += errors;
      ++counts.errored_readings;
    }
  }
  expire(now);
  updated_ = now;
}

LinkEnd LinkCases::end_of(const Sweep& sweep, const LinkTable& table, const Describe& describe, LinkId id, bool high,
                          const Bad& bad) const {
  const LinkState& link = table.links()[id];
  const NodeId node = high ? link.high_node : link.low_node;
  const NodeId far = high ? link.low_node : link.high_node;
  const KnownNode& here = table.nodes()[node];
  const PortIndex port = high ? link.high : link.low;
  LinkEnd end;
  end.is_switch = here.type == NodeType::kSwitch;
  end.port = describe.end(id, high);
  const bool is_host = !end.is_switch && here.host != kNoIndex;
  end.whole = is_host ? describe.host(here.host) : describe.node(node);
  end.name = end.whole.label;
  const bool is_mirrored = port != kNoIndex && port < sweep.inferred_from_peer.size() && sweep.inferred_from_peer[port];
  end.is_read = !is_mirrored && has_error_counters(sweep, port);
  if (const auto found = known_.find(id); found != known_.end()) {
    const Counts& present = high ? found->second.high : found->second.low;
    const Counts& before = high ? found->second.high_before : found->second.low_before;
    end.errors = present.errors + before.errors;
    end.errored_readings = present.errored_readings + before.errored_readings;
    end.times_down = present.times_down + before.times_down;
  }
  const auto host_of = [&](NodeId one) { return table.nodes()[one].host; };
  const auto is_far = [&](NodeId one) {
    return one == far || (host_of(one) != kNoIndex && host_of(one) == host_of(far));
  };
  const auto mate = here.index == kNoIndex
                        ? std::nullopt
                        : cage_mate(sweep.topology->nodes()[here.index], (high ? link.key.high : link.key.low).port);
  const auto add = [&](NodeId at) {
    for (const LinkId other : table.links_of(at)) {
      const LinkState& beside = table.links()[other];
      const bool is_bad = bad.contains(other);
      if (other == id || !beside.counts() || (!is_bad && beside.view != LinkView::kUp)) continue;
      const bool is_low = beside.low_node == at;
      const bool in_cage = mate && (is_low ? beside.key.low : beside.key.high).port == *mate;
      OtherLinks& links = in_cage ? end.same_cage : end.others;
      ++links.all;
      if (is_bad) ++links.bad;
      if (is_bad && is_far(is_low ? beside.high_node : beside.low_node)) ++links.shared;
    }
  };
  if (is_host)
    for (const NodeId adapter : table.hosts()[here.host]) add(adapter);
  else
    add(node);
  return end;
}

std::vector<LinkCase> LinkCases::cases(const Sweep& sweep, const LinkTable& table, const Describe& describe,
                                       std::span<const Finding> findings, std::span<const LinkId> flapped,
                                       TimePoint now) const {
  Bad bad(flapped.begin(), flapped.end());
  const auto add = [&](const Entity& entity) {
    const LinkId id = entity.kind == EntityKind::kLink ? table.find_link({entity.port, entity.peer}) : kNoIndex;
    if (id != kNoIndex) bad.insert(id);
  };
  for (const Finding& finding : findings) {
    if (!is_of_a_part(finding.kind) && finding.kind != IncidentKind::kLinkDown) continue;
    add(finding.cause);
    if (finding.kind == IncidentKind::kLinkDown) std::ranges::for_each(finding.affected, add);
  }
  std::vector<LinkId> ids(bad.begin(), bad.end());
  // Of those with trouble that is no finding of sweeps, hosts may have one.
  for (const auto& [id, entry] : known_)
    if (!entry.downs.empty() || std::max(entry.low.errored_readings, entry.high.errored_readings) >= kErroredReadings)
      ids.push_back(id);
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.size() > kMostLinks) ids.resize(kMostLinks);
  std::vector<LinkCase> all;
  all.reserve(ids.size());
  for (const LinkId id : ids) {
    LinkCase& one = all.emplace_back();
    one.key = table.links()[id].key;
    one.link = describe.link(id);
    one.a = end_of(sweep, table, describe, id, false, bad);
    one.b = end_of(sweep, table, describe, id, true, bad);
    if (const auto found = known_.find(id); found != known_.end()) {
      const Known& entry = found->second;
      one.downs = entry.downs;
      // What lies unplugged on somebody's bench is down, and not in trouble: that is known when it is back.
      const bool is_up = table.links()[id].view == LinkView::kUp;
      if (is_up && !one.downs.empty()) one.troubled = one.downs.back();
      if (!is_up && one.downs.size() > 1) one.troubled = one.downs[one.downs.size() - 2];
      one.window = now - (entry.before == kNever ? entry.since : entry.before);
    }
  }
  return all;
}

}  // namespace weft::analyzer
