// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fabric in the few bytes that a drawing of it needs: /api/v1/map, what there is, and /api/v1/map/state, how it is.
// Ten thousand adapters are read once and then watched for some kilobytes. Not messages: arrays by position, made for
// the page; programs are better served by /api/v1/topology and /api/v1/ports.
//
//   map:   {"fabrics": [{"fabric", "epoch", "shape", "guids": [...], "names": [...], "hosts": [...], "types": "SCC",
//                        "links": [node, port, node, port, ...], "ends": [name, name, ...],
//                        "pods": [name, ...], "podOf": [0, -1, ...], "rails": [name, ...], "railOf": [0, -1, ...]}]}
//   state: {"taken", "ready", "storeOk", "storeStatus", "fabrics": [{"fabric", "shape", "watching", "status",
//                        "sweepFinished", "nodes": "hbd", "links": "udu", "traffic": "AA-", "stall": "AA-",
//                        "errors": "AA-"}]}
//
// One character stands for one node or link, in the order of the map that has the same shape.
// ends are the labels of both ends of each link, "leaf01 swp3"; only of Ethernet, where ports have names.
// podOf and railOf have a position in the list of names for each node, -1 where it is of none, or has ports of several
// rails; the names are those of metrics and of /api/v1/nodes. A fabric without pods or rails has neither list.
//   types   S switch, C channel adapter, A a switch's SHARP engine, R router, U unknown
//   nodes   h healthy, d degraded, b unhealthy, u unknown, x no way leads to it
//   links   u up, d down, s not fresh enough to say, n never read
//   traffic base64 digit, 0 (A) to 63 (/): the busiest direction's share of the active rate; - not known
//   stall   base64 digit, 0 (A) to 63 (/): the worse direction's share of time with data and no credit; - not known
//   errors  base64 digit: 0 none, n: the worse direction's errors per bit are about 10^(n-20); - not known

#include <string>

#include "fabric/snapshot.hpp"

namespace weft::api {

/// Changes whenever positions in the map mean something else, or are named otherwise.
std::string map_shape(const FabricView& fabric);
/// The answer to GET /api/v1/map.
std::string fabric_map(const Snapshot& snapshot);
/// The answer to GET /api/v1/map/state.
std::string fabric_map_state(const Snapshot& snapshot, TimePoint now);

/// `ratio` 0..1, of traffic or stall, as a base64 digit; NaN gives '-'.
char share_digit(double ratio);
/// `rate` errors per bit; NaN gives '-'.
char error_digit(double rate);

}  // namespace weft::api
