// SPDX-License-Identifier: Apache-2.0
#pragma once
// What failed in one sweep, with all that it took along inside.

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ports/link_table.hpp"

namespace weft::analyzer {

/// What failed.
enum class OutageKind : std::uint8_t {
  kLink,            ///< one cable is down
  kLinkGroup,       ///< several links of one switch went down together
  kSwitch,          ///< a switch is gone: it does not answer and none of its links is up
  kHost,            ///< a host is gone: all of its two or more links are down
  kNodeSilent,      ///< a node does not answer management requests, but its neighbours see its links up
  kCountersSilent,  ///< a node, or several, answers, but its counters can no longer be read
  kNotActivated,    ///< several links have trained, and the subnet manager does not activate them
  kFabric,          ///< so much is missing that our own sight is suspected
};

/// One outage with all that it explains.
struct Outage {
  OutageKind kind = OutageKind::kLink;
  LinkId link = kNoIndex;  ///< of kLink
  /// Of kLinkGroup, kSwitch, kNodeSilent and kCountersSilent; kNoIndex for the counters of several nodes.
  NodeId node = kNoIndex;
  std::uint32_t host = kNoIndex;  ///< of kHost
  std::vector<LinkId> links{};    ///< down with it
  std::vector<NodeId> nodes{};    ///< out of reach behind it; of kCountersSilent of several nodes: those
  std::string reason{};           ///< of kFabric: one sentence
  /// Of kSwitch and kHost: it is back, and `links` are not active yet. Of kLinkGroup: some are active again.
  bool is_returning = false;
  std::size_t links_before = 0;      ///< of these: how many links it had, or lost
  std::size_t counters_waiting = 0;  ///< nodes whose counters cannot be read while routes around it change
};

/// All outages of one sweep.
struct OutageReport {
  std::vector<Outage> outages;
  /// What was read in this sweep says more about us than about the fabric: nothing is to be concluded from it.
  bool blind = false;
};

/// A switch or host with all of its links.
inline bool is_whole(const Outage& outage) {
  return outage.kind == OutageKind::kSwitch || outage.kind == OutageKind::kHost;
}

}  // namespace weft::analyzer
