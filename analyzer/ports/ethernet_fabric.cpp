// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/ethernet_fabric.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "analyzer/ports/plan_topology.hpp"
#include "fabric/graph/multipath.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// Readings in a row in which an interface is missing before that is believed: a driver that is reset takes it away for
/// a moment.
constexpr unsigned kReadingsToBelieve = 3;
/// A collector that reads more seldom is old most of the time, and does not make all others look at home with that.
constexpr Duration kSlowestHeeded = 30s;
/// Of sweeps. After so many a port's own readings are stale, as for the rules.
constexpr int kStaleSweeps = 4;
/// Cables are looked for again so often, whether anything was told or not.
constexpr Duration kSearchEvery = 10s;
/// Neighbours that were read no longer ago are what is there now.
constexpr Duration kTellsNow = 60s;

/// A device's own port comes before a software one on the same interface.
std::uint32_t find_interface(const HostInventory& inventory, std::string_view name) {
  std::uint32_t found = kNoIndex;
  for (std::uint32_t i = 0; i < inventory.ports.size(); ++i) {
    const HostPort& port = inventory.ports[i];
    if (port.netdev != name || port.link_layer == LinkLayer::kInfiniBand) continue;
    if (found == kNoIndex || (inventory.ports[found].pci_address.empty() && !port.pci_address.empty())) found = i;
  }
  return found;
}

}  // namespace

Result<EthernetFabric> EthernetFabric::make(const CablePlan& plan, std::string name, Duration interval) {
  auto topology = make_topology(plan);
  if (!topology) return tl::unexpected(topology.error());
  std::vector<PortBinding> bindings;
  for (PortIndex port = 0; port < (*topology)->ports().size(); ++port)
    if ((*topology)->port(port).peer != kNoIndex)
      bindings.push_back({port, std::string(host_name((*topology)->node_of((*topology)->port(port)))),
                          std::string((*topology)->port_name(port))});
  return EthernetFabric(std::move(name), interval, std::move(*topology), bindings);
}

EthernetFabric EthernetFabric::find(const FoundFabricOptions& options, std::string name, Duration interval) {
  FoundFabric found(options);
  EthernetFabric fabric(std::move(name), interval, found.topology(), {});
  fabric.found_ = std::move(found);
  return fabric;
}

EthernetFabric::EthernetFabric(std::string name, Duration interval, std::shared_ptr<const Topology> topology,
                               const std::vector<PortBinding>& bindings)
    : name_(std::move(name)),
      interval_(interval),
      topology_(std::move(topology)),
      multipath_(std::make_shared<const Multipath>(topology_)),
      told_(topology_->ports().size()),
      teller_(topology_->ports().size(), Teller::kNobody) {
  for (const PortBinding& binding : bindings)
    hosts_[binding.collector].ports.push_back({.port = binding.port, .interface = binding.interface, .series = {}});
}

void EthernetFabric::restore(std::span<const KnownLink> links) {
  if (!found_ || is_told_ || links.empty()) return;
  found_->restore(links);
  if (found_->topology()->epoch() != topology_->epoch()) rebuild();
}

/// Again where a table is another one, and now and then: what was told grows old.
void EthernetFabric::find_cables(std::span<const std::shared_ptr<const HostView>> hosts, TimePoint now) {
  bool has_news = searched_at_ == kNever || now < searched_at_ || now - searched_at_ >= kSearchEvery;
  std::map<std::string, std::shared_ptr<const NeighbourTable>> heard;
  for (const auto& view : hosts) {
    if (!view->reading) continue;
    const auto before = heard_.find(view->host);
    has_news = has_news || before == heard_.end() || before->second != view->reading->neighbours;
    is_told_ = is_told_ || view->reading->neighbours;
    heard.emplace(view->host, view->reading->neighbours);
  }
  has_news = has_news || heard.size() != heard_.size();
  heard_ = std::move(heard);
  if (!has_news) return;
  searched_at_ = now;
  std::vector<NeighbourTeller> tellers;
  for (const auto& view : hosts) {
    if (!view->reading) continue;
    const bool is_fresh = view->state == CollectorState::kConnected && view->reading->neighbours_at >= now - kTellsNow;
    tellers.push_back({view->host, view->reading->neighbours, is_fresh});
  }
  if (found_->update(tellers, now)) rebuild();
}

/// Another graph: what is known of ports that stay goes with them.
void EthernetFabric::rebuild() {
  const auto before = std::exchange(topology_, found_->topology());
  const std::vector<Told> told = std::exchange(told_, std::vector<Told>(topology_->ports().size()));
  const std::vector<Teller> teller =
      std::exchange(teller_, std::vector<Teller>(topology_->ports().size(), Teller::kNobody));
  std::vector<std::uint8_t> was_there(before->ports().size(), 0);
  for (const auto& [name, host] : hosts_)
    for (const Watched& watched : host.ports) was_there[watched.port] = watched.was_there ? 1 : 0;
  hosts_.clear();
  std::vector<PortIndex> place(topology_->ports().size(), kNoIndex);
  for (PortIndex port = 0; port < place.size(); ++port) {
    place[port] = before->find_port(topology_->key_of(port));
    if (place[port] == kNoIndex) continue;
    told_[port] = told[place[port]];
    told_[port].series = nullptr;  // they pointed into hosts_, and are found again there
    told_[port].reading = nullptr;
    teller_[port] = teller[place[port]];
  }
  for (const PortBinding& binding : found_->bindings()) {
    const PortIndex old = place[binding.port];
    hosts_[binding.collector].ports.push_back({.port = binding.port,
                                               .interface = binding.interface,
                                               .was_there = old != kNoIndex && was_there[old] != 0,
                                               .series = {}});
  }
  multipath_ = std::make_shared<const Multipath>(topology_);
}

/// Another inventory: where the planned ports stand in it.
void EthernetFabric::look(Host& host, const HostReading& reading) {
  const auto before = std::exchange(host.inventory, reading.inventory);
  host.readings = 0;
  // A state that changed is another inventory with the same series. A switch has thousands of them.
  const bool same_series = before && before->series.shared() == host.inventory->series.shared();
  for (Watched& watched : host.ports) {
    const std::uint32_t position = find_interface(*host.inventory, watched.interface);
    const auto has_moved = [&](const HostPort& port) {
      const HostPort& other = before->ports[watched.position];
      return port.device != other.device || port.number != other.number;
    };
    if (position == kNoIndex)
      watched.series = {};
    else if (!same_series || watched.position == kNoIndex || has_moved(host.inventory->ports[position]))
      watched.series = PortSeries::find(*host.inventory, host.inventory->ports[position]);
    watched.position = position;
    watched.was_there |= position != kNoIndex;
  }
}

void EthernetFabric::listen(Host& host, const std::shared_ptr<const HostReading>& told_now, TimePoint now) {
  const HostReading& reading = *told_now;
  if (host.inventory != reading.inventory) look(host, reading);
  if (reading.taken != host.read_at && host.readings < kReadingsToBelieve) ++host.readings;
  if (reading.taken != host.read_at) host.told_at = std::min(reading.taken, now);
  host.read_at = reading.taken;
  for (const Watched& watched : host.ports) {
    Told& told = told_[watched.port];
    if (watched.position == kNoIndex) {
      if (!watched.was_there || host.readings < kReadingsToBelieve) continue;
      told = {};
      told.at = host.told_at;
      told.state = PortState::kDown;
      continue;
    }
    told = {};
    const HostPort& port = host.inventory->ports[watched.position];
    told.at = host.told_at;
    told.state = port.administratively_down ? PortState::kDown : port.state;
    told.physical_state = port.administratively_down ? PortPhysicalState::kDisabled : port.physical_state;
    if (told.state == PortState::kActive) {
      told.physical_state = PortPhysicalState::kLinkUp;
      told.rate = port.rate_bits_per_second;
    }
    told.series = &watched.series;
    told.reading = told_now;
  }
}

Sweep EthernetFabric::sweep(std::span<const std::shared_ptr<const HostView>> hosts, TimePoint now) {
  Sweep sweep;
  sweep.fabric = name_;
  sweep.number = ++number_;
  sweep.interval = interval_;
  if (found_) find_cables(hosts, now);
  for (const auto& view : hosts) {
    const auto host = hosts_.find(view->host);
    if (host == hosts_.end() || !view->reading || !view->reading->inventory) continue;
    if (view->state == CollectorState::kConnected)
      sweep.interval = std::max(sweep.interval, std::min<Duration>(view->interval, kSlowestHeeded));
    listen(host->second, view->reading, now);
  }
  sweep.finished = now;
  sweep.started = now - sweep.interval * 3 / 2;
  tell_states(sweep);
  tell_counters(sweep);
  sweep.topology = topology_;
  sweep.multipath = multipath_;
  if (found_) sweep.found = found_->cabling();
  return sweep;
}

void EthernetFabric::tell_states(Sweep& sweep) {
  const std::size_t count = topology_->ports().size();
  sweep.state_read_at.assign(count, kNever);
  sweep.inferred_from_peer.assign(count, 0);
  bool usable = false;
  std::vector<Port> ports;  // as they are now; empty while all are as before
  for (PortIndex index = 0; index < count; ++index) {
    const Port& port = topology_->port(index);
    if (port.peer == kNoIndex) continue;
    const Told& own = told_[index];
    const Told& other = told_[port.peer];
    const auto knows = [](const Told& told) { return told.at != kNever && told.state != PortState::kUnknown; };
    // What lies ahead was told before the clock was set back.
    const auto is_new = [&](const Told& told) { return told.at >= sweep.started && told.at <= sweep.finished; };
    const bool itself = knows(own) && (is_new(own) || !knows(other) || (own.at >= other.at && !is_new(other)));
    PortState state = PortState::kUnknown;
    PortPhysicalState physical_state = PortPhysicalState::kUnknown;
    std::uint64_t rate = 0;
    if (itself || knows(other)) {
      const Told& told = itself ? own : other;
      sweep.state_read_at[index] = told.at;
      sweep.inferred_from_peer[index] = itself ? 0 : 1;
      state = told.state;
      rate = told.rate;
      // Whoever disabled the other end did not disable this one.
      if (itself || told.physical_state == PortPhysicalState::kLinkUp) physical_state = told.physical_state;
    }
    if (port.state == state && port.physical_state == physical_state && port.ethernet_rate == rate) continue;
    if (ports.empty()) ports.assign(topology_->ports().begin(), topology_->ports().end());
    usable = usable || ((port.state == PortState::kDown) != (state == PortState::kDown));
    ports[index].state = state;
    ports[index].physical_state = physical_state;
    ports[index].ethernet_rate = rate;
  }
  if (ports.empty()) return;
  std::vector<std::string> names;
  names.reserve(count);
  for (PortIndex index = 0; index < count; ++index) names.emplace_back(topology_->port_name(index));
  topology_ = std::make_shared<const Topology>(
      topology_->epoch(), std::vector<Node>(topology_->nodes().begin(), topology_->nodes().end()), std::move(ports),
      std::vector<DuplicateGuid>{}, LinkLayer::kEthernet, std::move(names));
  if (usable) multipath_ = std::make_shared<const Multipath>(topology_);
}

void EthernetFabric::tell_counters(Sweep& sweep) {
  auto table = SampleTable::of_group(CounterGroup::kEverySweep, teller_.size());
  const TimePoint stale = sweep.finished - sweep.interval * kStaleSweeps;
  for (PortIndex index = 0; index < teller_.size(); ++index) {
    const PortIndex peer = topology_->port(index).peer;
    if (peer == kNoIndex) continue;
    const Told& own = told_[index];
    const Told& other = told_[peer];
    Teller teller = Teller::kItself;
    PortCounters counters = own.counters();
    const bool is_old = own.at < stale && other.at > own.at;
    if (const bool has_own = counters.any(); !has_own || is_old)
      if (PortCounters mirrored = other.counters().seen_from_the_peer(); mirrored.any() || !has_own) {
        teller = Teller::kPeer;
        counters = mirrored;
      }
    if (!counters.any()) teller = Teller::kNobody;
    const bool another = teller_[index] != Teller::kNobody && teller_[index] != teller;
    teller_[index] = teller;
    if (another || teller == Teller::kNobody) continue;
    counters.write(table, index);
    table.set_read_at(index, teller == Teller::kItself ? own.at : other.at);
  }
  sweep.counters = std::make_shared<const SampleTable>(std::move(table));
}

}  // namespace weft::analyzer
