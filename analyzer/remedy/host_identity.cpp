// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/host_identity.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

using State = HostIdentity::State;

HostIdentity verdict(State state, std::string why) {
  return {state, std::move(why)};
}

/// The adapters that the incident's cause names.
std::vector<NodeGuid> nodes_of(const Incident* incident) {
  if (!incident) return {};
  std::vector<NodeGuid> nodes;
  for (const NodeGuid node : {incident->finding.cause.port.node, incident->finding.cause.peer.node})
    if (node) nodes.push_back(node);
  return nodes;
}

}  // namespace

void HostIdentities::update(const RemedyView& view) {
  all_seen_ = std::ranges::all_of(view.fabrics, [](const FabricView& fabric) { return fabric.sweep != nullptr; });
  std::vector<std::shared_ptr<const Topology>> subnets;
  for (const FabricView& fabric : view.fabrics)
    if (fabric.sweep && fabric.sweep->topology && !fabric.sweep->topology->is_ethernet())
      subnets.push_back(fabric.sweep->topology);
  const auto is_same = [](const Reporter& reporter, const std::shared_ptr<const HostView>& host) {
    return reporter.state == host->state &&
           reporter.inventory == (host->reading ? host->reading->inventory : nullptr) && reporter.host == host->host;
  };
  if (subnets == subnets_ && std::ranges::equal(reporters_, view.hosts, is_same)) return;
  subnets_ = std::move(subnets);
  reporters_.clear();
  for (const auto& host : view.hosts)
    reporters_.push_back({host->host, host->state, host->reading ? host->reading->inventory : nullptr});
  rebuild();
}

void HostIdentities::rebuild() {
  adapters_.clear();
  by_guid_.clear();
  by_host_.clear();
  for (const auto& topology : subnets_)
    for (const Node& node : topology->nodes()) {
      if (node.type != NodeType::kChannelAdapter || node.aggregation_node) continue;
      // One adapter may stand in two subnets.
      const auto [at, added] = by_guid_.try_emplace(node.guid.value, static_cast<std::uint32_t>(adapters_.size()));
      if (added) {
        const bool nameless = node.name == to_string(node.guid) || is_nobodys_description(node.name);
        adapters_.push_back(
            {node.guid, node.name, nameless ? std::string() : std::string(host_name(node)), node.name_is_given});
      }
      for (const Port& port : topology->ports_of(node))
        if (port.guid) adapters_[at->second].ports.push_back(port.guid.value);
    }
  for (std::uint32_t i = 0; i < adapters_.size(); ++i)
    for (const std::uint64_t port : adapters_[i].ports) by_guid_.try_emplace(port, i);
  for (std::uint32_t reporter = 0; reporter < reporters_.size(); ++reporter) {
    if (!reporters_[reporter].inventory) continue;
    for (const HostPort& port : reporters_[reporter].inventory->ports) {
      // What is made for others may be given any GUID.
      if (port.is_virtual_function) continue;
      for (const std::uint64_t guid : {port.node_guid.value, port.port_guid.value}) {
        const auto found = guid == 0 ? by_guid_.end() : by_guid_.find(guid);
        if (found == by_guid_.end()) continue;
        std::vector<std::uint32_t>& owners = adapters_[found->second].owners;
        if (std::ranges::find(owners, reporter) == owners.end()) owners.push_back(reporter);
      }
    }
  }
  for (std::uint32_t i = 0; i < adapters_.size(); ++i) {
    Adapter& adapter = adapters_[i];
    const auto connected = [this](std::uint32_t owner) {
      return reporters_[owner].state == CollectorState::kConnected;
    };
    // An adapter that was moved is still in the last word of the host that it left.
    if (std::ranges::any_of(adapter.owners, connected))
      std::erase_if(adapter.owners, [&](std::uint32_t owner) { return !connected(owner); });
    std::set<std::string> hosts;
    if (!adapter.claimed.empty()) hosts.insert(short_host_name(adapter.claimed));
    for (const std::uint32_t owner : adapter.owners) hosts.insert(short_host_name(reporters_[owner].host));
    for (const std::string& host : hosts) by_host_.emplace(host, i);
  }
}

bool HostIdentities::owns(const Adapter& adapter, std::string_view host) const {
  return std::ranges::any_of(adapter.owners,
                             [&](std::uint32_t owner) { return same_host(reporters_[owner].host, host); });
}

std::string HostIdentities::host_of(NodeGuid guid) const {
  const auto found = by_guid_.find(guid.value);
  if (found == by_guid_.end()) return {};
  const Adapter& adapter = adapters_[found->second];
  return adapter.owners.size() == 1 ? reporters_[adapter.owners.front()].host : adapter.claimed;
}

bool HostIdentities::has_guid(std::string_view host, std::uint64_t guid) const {
  const auto found = by_guid_.find(guid);
  if (found == by_guid_.end()) return false;
  const Adapter& adapter = adapters_[found->second];
  return same_host(adapter.claimed, host) || owns(adapter, host);
}

HostIdentity HostIdentities::of_collector(std::string_view host) const {
  if (!all_seen_)
    return verdict(State::kUnconfirmed,
                   "a fabric has no complete sweep yet: other nodes may claim the name " + std::string(host));
  std::size_t known = 0;
  for (const Reporter& reporter : reporters_) {
    if (reporter.host == host) return verdict(State::kConfirmed, "its own collector reports it");
    known += same_host(reporter.host, host);
  }
  const std::string name(host);
  if (known == 1) return verdict(State::kConfirmed, "its own collector reports it");
  if (known == 0) return verdict(State::kUnconfirmed, "no collector reports host " + name);
  return verdict(State::kUnconfirmed, std::to_string(known) + " hosts with a collector may be meant by " + name);
}

HostIdentity HostIdentities::identify(std::string_view host, const Incident* incident) const {
  const std::string name(host);
  std::vector<const Adapter*> own;
  const Adapter* others = nullptr;
  const auto stranger = [&](const Adapter& adapter) {
    return "adapter " + to_string(adapter.guid) + " calls itself " + adapter.name + ", but the collector of " +
           reporters_[adapter.owners.front()].host + " reports it as its own";
  };
  const auto [begin, end] = by_host_.equal_range(short_host_name(host));
  for (auto at = begin; at != end; ++at) {
    const Adapter& adapter = adapters_[at->second];
    if (!same_host(adapter.claimed, host) && !owns(adapter, host)) continue;
    if (adapter.owners.empty() || owns(adapter, host))
      own.push_back(&adapter);
    else
      others = &adapter;
  }
  for (const NodeGuid node : nodes_of(incident)) {
    const auto found = by_guid_.find(node.value);
    if (found == by_guid_.end()) continue;
    const Adapter& adapter = adapters_[found->second];
    if (!adapter.owners.empty() && !owns(adapter, host)) return verdict(State::kContradicted, stranger(adapter));
  }
  for (const Adapter* adapter : own)
    if (adapter->owners.size() > 1)
      return verdict(State::kContradicted, "the collectors of " + reporters_[adapter->owners[0]].host + " and " +
                                               reporters_[adapter->owners[1]].host + " both report adapter " +
                                               to_string(adapter->guid));
  if (own.empty()) return others ? verdict(State::kContradicted, stranger(*others)) : of_collector(host);

  std::map<std::string_view, std::vector<const Adapter*>> named;
  for (const Adapter* adapter : own) named[adapter->name].push_back(adapter);
  const auto is_confirmed = [](const Adapter* adapter) { return !adapter->owners.empty() || adapter->is_given; };
  for (const auto& [of, bearers] : named)
    if (bearers.size() > 1 && !std::ranges::all_of(bearers, is_confirmed))
      return verdict(State::kUnconfirmed, std::to_string(bearers.size()) + " nodes claim the name " + std::string(of));
  for (const Adapter* adapter : own) {
    if (!is_confirmed(adapter))
      return verdict(State::kUnconfirmed,
                     "no collector confirms that adapter " + to_string(adapter->guid) + " belongs to " + name);
    if (adapter->is_given && !same_host(adapter->claimed, host))
      return verdict(State::kUnconfirmed, "the node name map calls adapter " + to_string(adapter->guid) + ' ' +
                                              adapter->name + ", the collector of " + name + " reports it");
  }
  const auto reported = std::ranges::count_if(own, [](const Adapter* adapter) { return !adapter->owners.empty(); });
  const std::string count = std::to_string(own.size()) + (own.size() == 1 ? " adapter" : " adapters");
  return verdict(State::kConfirmed, reported == 0
                                        ? "the node name map names its " + count
                                        : "its collector reports " + std::to_string(reported) + " of its " + count);
}

}  // namespace weft::analyzer
