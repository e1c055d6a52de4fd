// SPDX-License-Identifier: Apache-2.0
#pragma once
// How nodes, ports and links are named in findings, the same way by every rule.

#include <string>
#include <string_view>

#include "analyzer/ports/link_table.hpp"
#include "fabric/incident.hpp"
#include "fabric/number_text.hpp"

namespace weft::analyzer {

/// Entities with labels for people, of one fabric.
class Describe {
 public:
  /// `fabric` and `table` must outlive the object.
  Describe(std::string_view fabric, const LinkTable& table) : fabric_(fabric), table_(table) {}

  /// The fabric as a whole.
  Entity fabric() const;
  /// A node by its position in the link table.
  Entity node(NodeId id) const;
  /// A host, as the node of its adapter with the lowest GUID; the label is the host's name.
  Entity host(std::uint32_t host) const;
  /// A port of a known node. The label is node and port number.
  Entity port(PortKey key) const;
  /// A link with both ends; the label names both.
  Entity link(LinkId id) const;
  /// The low or the high end of a link, as a port.
  Entity end(LinkId id, bool high) const;
  /// The adapter at one end of an access link (switch to adapter), kNoIndex for a link between switches.
  NodeId adapter_of(LinkId id) const;

 private:
  std::string fabric_;
  const LinkTable& table_;
};

/// A finding with nothing in it yet but what it is about.
Finding make_finding(IncidentKind kind, Severity severity, Entity cause);

/// Evidence that is no number.
Evidence fact(std::string signal, std::string description, TimePoint observed, Entity where);

/// Evidence of LINK_DOWN and NODE_DOWN: what is down has trained, and the subnet manager still has time to activate it.
inline constexpr std::string_view kWaitsForManagerSignal = "waits_for_manager";

}  // namespace weft::analyzer
