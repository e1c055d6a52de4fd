// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which links announced work is done on now: what they do meanwhile is nobody's fault and counts nowhere.

#include <cstdint>
#include <vector>

#include "analyzer/ports/link_table.hpp"
#include "fabric/maintenance.hpp"

namespace weft::analyzer {

/// The links and ports under maintenance at the moment.
class PlannedLinks {
 public:
  /// Replaces the maintenance windows; takes effect with the next update().
  void set(MaintenanceListPtr windows) { windows_ = std::move(windows); }
  /// Looks up the links and ports of the windows that are active. Costs nothing while none is.
  void update(const LinkTable& table, const Topology& topology, std::string_view fabric, TimePoint now);

  /// True for a link under maintenance.
  bool has(LinkId link) const { return link < links_.size() && links_[link] != 0; }
  /// True for a port under maintenance.
  bool has_port(PortIndex port) const { return port < ports_.size() && ports_[port] != 0; }

 private:
  void mark_all(const LinkTable& table, const Topology& topology);
  void mark(const LinkTable& table, LinkId link);
  void mark_node(const LinkTable& table, NodeGuid guid);
  void mark_at(const LinkTable& table, PortKey port);

  MaintenanceListPtr windows_;
  std::vector<std::uint8_t> links_;  ///< by link; empty: none
  std::vector<std::uint8_t> ports_;  ///< by port of the present topology; empty: none
};

}  // namespace weft::analyzer
