// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subnets, nodes, ports and links as messages.

#include "fabric/snapshot.hpp"
#include "weft/v1/fabric.pb.h"

namespace weft::api {

/// Name, status, counts and the last sweep.
void to_proto(const FabricView& from, v1::Fabric& to);
/// Number, times and statistics of a sweep, without its readings.
void to_proto(const Sweep& from, v1::SweepSummary& to);

/// The functions below want a fabric that has a sweep, and an index of its topology.
void node_to_proto(const FabricView& fabric, NodeIndex index, v1::Node& to);
/// What of a port's message is wanted.
enum class PortDetail { kStates, kRates, kCounters };
/// Fills in the message of one port, as much of it as `detail` says. `now` tells what is stale.
void port_to_proto(const FabricView& fabric, PortIndex index, PortDetail detail, TimePoint now, v1::Port& to);
/// One of FabricView::absent_links, without the plan that holds it.
void link_to_proto(const FabricView& fabric, const AbsentLink& link, v1::Link& to);
/// `index` is the end with the smaller key, see starts_link(), or a loose end. Without the plan that holds the link.
void link_to_proto(const FabricView& fabric, PortIndex index, v1::Link& to);
/// Node, number and, on Ethernet, name of one port.
void to_proto(const Topology& topology, PortIndex index, v1::PortReference& to);
/// "4X", "NDR", or empty where nothing is known.
std::string width_text(WidthMask width);
/// "NDR", or empty where nothing is known.
std::string speed_text(SpeedMask speed);
/// It is a port that is shown: port 0 of a switch is InfiniBand's.
bool is_port(const Topology& topology, PortIndex index);
/// There is a cable at the port, and this is the end it is listed under: each cable once.
bool starts_link(const Topology& topology, PortIndex index);
/// A port of a switch that somebody disabled, with no cable known. It may be one end of a link, or unused.
bool is_loose_end(const Topology& topology, PortIndex index);

}  // namespace weft::api
