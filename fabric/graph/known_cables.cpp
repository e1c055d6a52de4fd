// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/known_cables.hpp"

#include <unordered_map>
#include <utility>

namespace weft {
namespace {

bool is_loose(const Topology& topology, PortIndex port) {
  return port != kNoIndex && topology.port(port).peer == kNoIndex && !topology.port(port).is_up();
}

/// Those of which the topology has both ports, and a cable at neither.
std::vector<LinkKey> unseen_links(const Topology& topology, const std::vector<KnownLink>& known) {
  std::vector<LinkKey> unseen;
  std::unordered_map<PortIndex, unsigned> links_at;
  for (const KnownLink& link : known) {
    const PortIndex low = topology.find_port(link.key.low), high = topology.find_port(link.key.high);
    if (!is_loose(topology, low) || !is_loose(topology, high)) continue;
    unseen.push_back(link.key);
    ++links_at[low];
    ++links_at[high];
  }
  // A cable was moved while nobody watched: which one is there now is not known.
  std::erase_if(unseen, [&](const LinkKey& link) {
    return links_at[topology.find_port(link.low)] > 1 || links_at[topology.find_port(link.high)] > 1;
  });
  return unseen;
}

}  // namespace

std::shared_ptr<const Topology> KnownCables::complete(std::shared_ptr<const Topology> topology,
                                                      const std::function<std::vector<KnownLink>()>& known) {
  if (topology->is_ethernet()) return topology;
  if (topology == given_) return completed_;
  if (!given_ || topology->epoch() != epoch_ || topology->nodes().size() != nodes_) {
    epoch_ = topology->epoch();
    nodes_ = topology->nodes().size();
    missing_ = unseen_links(*topology, known());
  }
  given_ = completed_ = std::move(topology);
  std::vector<Port> ports;
  for (const LinkKey& link : missing_) {
    const PortIndex low = given_->find_port(link.low), high = given_->find_port(link.high);
    if (!is_loose(*given_, low) || !is_loose(*given_, high)) continue;
    if (ports.empty()) ports.assign(given_->ports().begin(), given_->ports().end());
    ports[low].peer = high;
    ports[high].peer = low;
  }
  if (!ports.empty())
    completed_ = std::make_shared<const Topology>(
        given_->epoch(), std::vector<Node>(given_->nodes().begin(), given_->nodes().end()), std::move(ports),
        std::vector<DuplicateGuid>(given_->duplicates().begin(), given_->duplicates().end()), given_->layer());
  return completed_;
}

}  // namespace weft
