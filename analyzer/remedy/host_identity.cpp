// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/host_identity.hpp"

#include <algorithm>
#include <iterator>
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
  std::vector<std::shared_ptr<const Topology>> subnets, ethernets;
  for (const FabricView& fabric : view.fabrics)
    if (fabric.sweep && fabric.sweep->topology)
      (fabric.sweep->topology->is_ethernet() ? ethernets : subnets).push_back(fabric.sweep->topology);
  const Duration now = view.steady.value_or(view.now.time_since_epoch());
  const auto is_same = [](const Reporter& reporter, const std::shared_ptr<const HostView>& host) {
    return reporter.state == host->state &&
           reporter.inventory == (host->reading ? host->reading->inventory : nullptr) && reporter.host == host->host;
  };
  if (subnets == subnets_ && ethernets == ethernets_ && std::ranges::equal(reporters_, view.hosts, is_same) &&
      (gone_.empty() || now - gone_.front().since < kNamesakesRememberedFor))
    return;
  std::vector<Gone> before = with_namesakes();
  subnets_ = std::move(subnets);
  ethernets_ = std::move(ethernets);
  reporters_.clear();
  for (const auto& host : view.hosts)
    reporters_.push_back({host->host, host->state, host->reading ? host->reading->inventory : nullptr});
  rebuild();
  remember(std::move(before), now);
}

void HostIdentities::rebuild() {
  adapters_.clear();
  by_guid_.clear();
  by_host_.clear();
  reporting_.clear();
  names_.clear();
  confirmed_.clear();
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
    add_names(adapter);
  }
  for (std::uint32_t reporter = 0; reporter < reporters_.size(); ++reporter) {
    add_name(names_, reporters_[reporter].host);
    add_name(confirmed_, reporters_[reporter].host);
    reporting_.emplace(short_host_name(reporters_[reporter].host), reporter);
  }
  for (const auto& topology : ethernets_)
    for (const Node& node : topology->nodes()) {
      if (node.type != NodeType::kChannelAdapter || node.aggregation_node) continue;
      const std::string host(host_name(node));
      add_name(names_, host);
      add_name(confirmed_, host);
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

std::string HostIdentities::both_report(const Adapter& adapter) const {
  return "the collectors of " + reporters_[adapter.owners[0]].host + " and " + reporters_[adapter.owners[1]].host +
         " both report adapter " + to_string(adapter.guid);
}

std::string HostIdentities::is_reported_by_other(const Adapter& adapter) const {
  return "adapter " + to_string(adapter.guid) + " calls itself " + adapter.name + ", but the collector of " +
         reporters_[adapter.owners.front()].host + " reports it as its own";
}

std::string HostIdentities::is_claimed_only(const Adapter& adapter) const {
  return "adapter " + to_string(adapter.guid) + " calls itself " + adapter.name +
         ", but neither a collector nor the node name map confirms it";
}

Result<std::string> HostIdentities::confirmed_host_of(std::uint64_t guid) const {
  const auto found = by_guid_.find(guid);
  if (found == by_guid_.end())
    return fail(ErrorCode::kNotFound, "no adapter has the GUID " + to_string(NodeGuid{guid}));
  const Adapter& adapter = adapters_[found->second];
  const auto unclear = [](const std::string& why) -> Result<std::string> {
    return fail(ErrorCode::kFailedPrecondition, why + ": name the host itself");
  };
  if (adapter.owners.size() > 1) return unclear(both_report(adapter));
  if (adapter.owners.empty()) {
    if (adapter.is_given && !adapter.claimed.empty()) return adapter.claimed;
    return unclear(adapter.claimed.empty()
                       ? "no collector reports adapter " + to_string(adapter.guid) + " and it has no host's name"
                       : is_claimed_only(adapter));
  }
  const std::string& owner = reporters_[adapter.owners.front()].host;
  if (!adapter.is_given || adapter.claimed.empty()) return owner;
  if (!same_host(adapter.claimed, owner)) return unclear(is_reported_by_other(adapter));
  return is_full(adapter.claimed) ? adapter.claimed : owner;
}

bool HostIdentities::has_guid(std::string_view host, std::uint64_t guid) const {
  const auto found = by_guid_.find(guid);
  if (found == by_guid_.end()) return false;
  const Adapter& adapter = adapters_[found->second];
  if (owns(adapter, host)) return true;
  return same_host(adapter.claimed, host) &&
         (!is_confirmed_name(host) || (is_confirmed(adapter) && bears_its_name(adapter)));
}

std::vector<NodeGuid> HostIdentities::adapters_of(std::string_view host) const {
  std::vector<NodeGuid> guids;
  const auto [begin, end] = by_host_.equal_range(short_host_name(host));
  for (auto at = begin; at != end; ++at)
    if (const NodeGuid guid = adapters_[at->second].guid; has_guid(host, guid.value)) guids.push_back(guid);
  return guids;
}

bool HostIdentities::has_adapter(std::string_view host, std::string_view name) const {
  const auto [begin, end] = by_host_.equal_range(short_host_name(host));
  return std::any_of(begin, end, [&](const auto& entry) {
    const Adapter& adapter = adapters_[entry.second];
    return same_name(adapter.name, name) && (same_host(adapter.claimed, host) || owns(adapter, host));
  });
}

HostIdentity HostIdentities::of_collector(std::string_view host) const {
  std::size_t known = 0;
  const auto [begin, end] = reporting_.equal_range(short_host_name(host));
  for (auto at = begin; at != end; ++at) {
    const Reporter& reporter = reporters_[at->second];
    if (reporter.host == host) return verdict(State::kConfirmed, "its own collector reports it");
    known += same_host(reporter.host, host) ? 1 : 0;
  }
  const std::string name(host);
  if (known == 1) return verdict(State::kConfirmed, "its own collector reports it");
  if (known == 0) return verdict(State::kUnconfirmed, "no collector reports host " + name);
  return verdict(State::kUnconfirmed, std::to_string(known) + " hosts with a collector may be meant by " + name);
}

HostIdentity HostIdentities::identify(std::string_view host, const Incident* incident) const {
  HostIdentity identity = of_adapters(host, incident);
  if (identity.state != State::kConfirmed) return identity;
  if (!all_seen_)
    return verdict(State::kUnconfirmed,
                   "a fabric has no complete sweep yet: other nodes may claim the name " + std::string(host));
  const std::vector<std::string> others = namesakes(host);
  if (others.empty()) {
    // Not that of the host itself, which of_adapters() would have told: of another one with its short name.
    if (const std::string claim = claim_on(host, false); !claim.empty())
      return verdict(State::kUnconfirmed, claim + "; a scheduler may mean it by " + short_host_name(host));
    // It changes nothing for the host, but whoever looks should know.
    if (const std::string claim = claim_on(host, true); !claim.empty()) identity.explanation += "; " + claim;
    return identity;
  }
  std::string names;
  for (const std::string& other : others) names += (names.empty() ? "" : ", ") + with_absence(other);
  return verdict(State::kUnconfirmed, "several hosts have the short name " + short_host_name(host) +
                                          ", by which a scheduler may mean each: " +
                                          (is_full(host) || others.size() == 1 ? std::string(host) + ", " : "") +
                                          names);
}

HostIdentity HostIdentities::of_adapters(std::string_view host, const Incident* incident) const {
  const std::string name(host);
  std::vector<const Adapter*> own;
  const Adapter* others = nullptr;
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
    if (!adapter.owners.empty() && !owns(adapter, host))
      return verdict(State::kContradicted, is_reported_by_other(adapter));
  }
  // Its own collector reports it. Any host's collector may report any GUID: that must not keep a person from draining.
  for (const Adapter* adapter : own)
    if (adapter->owners.size() > 1) return verdict(State::kUnconfirmed, both_report(*adapter));
  if (own.empty()) {
    // None of its adapters is seen, as when its cable is out. Its collector says who it is, whoever claims its name.
    HostIdentity by_collector = of_collector(host);
    if (by_collector.state == State::kConfirmed || !others) return by_collector;
    return verdict(State::kContradicted, is_reported_by_other(*others));
  }

  std::map<std::string_view, std::vector<const Adapter*>> named;
  for (const Adapter* adapter : own) named[adapter->name].push_back(adapter);
  const auto is_sure = [this](const Adapter* adapter) { return is_confirmed(*adapter); };
  for (const auto& [of, bearers] : named)
    if (bearers.size() > 1 && !std::ranges::all_of(bearers, is_sure))
      return verdict(State::kUnconfirmed, std::to_string(bearers.size()) + " nodes claim the name " + std::string(of));
  for (const Adapter* adapter : own) {
    if (!is_confirmed(*adapter))
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
