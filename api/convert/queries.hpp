// SPDX-License-Identifier: Apache-2.0
#pragma once
// The questions that gRPC, JSON and the page ask of a snapshot, answered as messages. Pure: no I/O, `now` passed in.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/fabric.pb.h"
#include "weft/v1/health.pb.h"
#include "weft/v1/incident.pb.h"

namespace weft::api {

/// State of the daemon and of each fabric.
v1::Status status(const Snapshot& snapshot);

/// A page of nodes. Fails as walk_page() does.
Result<v1::ListNodesResponse> list_nodes(const Snapshot& snapshot, const v1::ListNodesRequest& request);
/// kNotFound; kFailedPrecondition when the name is that of more nodes than one answer holds.
Result<v1::GetNodeResponse> get_node(const Snapshot& snapshot, std::string_view name, TimePoint now);
/// A page of ports. Fails as walk_page() does; kNotFound for an unknown node.
Result<v1::ListPortsResponse> list_ports(const Snapshot& snapshot, const v1::ListPortsRequest& request, TimePoint now);
/// A page of links. Fails as walk_page() does; kInvalidArgument for what LinkWords::parse() refuses.
Result<v1::ListLinksResponse> list_links(const Snapshot& snapshot, const v1::ListLinksRequest& request);

/// A page of incidents, ascending by id. kInvalidArgument for a negative page size, a token that is none, or
/// a span of time that ends before it begins.
Result<v1::ListIncidentsResponse> list_incidents(const Snapshot& snapshot, const v1::ListIncidentsRequest& request);
/// `id` as a person writes it: "INC-17", "17".
Result<v1::Incident> get_incident(const Snapshot& snapshot, std::string_view id);

/// A page of verdicts, sorted by node name. kInvalidArgument for a negative page size or a token that is none.
Result<v1::ListHealthResponse> list_health(const Snapshot& snapshot, const v1::ListHealthRequest& request);
/// Health of the host or switch of that name; kNotFound.
Result<v1::NodeHealth> get_health(const Snapshot& snapshot, std::string_view node);

/// A whole topology in parts: nodes, then ports, then links.
class TopologyParts {
 public:
  /// At most `page_size` entries in a part; 0: as many as fit.
  TopologyParts(std::shared_ptr<const Snapshot> snapshot, std::string fabric, TimePoint now,
                std::int32_t page_size = 0);
  /// The next part into `part`; false at the end. Fails as walk_page() does, at once if at all.
  Result<bool> next(v1::Topology& part);

 private:
  enum class Section { kNodes, kPorts, kLinks, kEnd };
  std::shared_ptr<const Snapshot> snapshot_;
  std::string fabric_;
  TimePoint now_;
  std::int32_t page_size_;
  Section section_ = Section::kNodes;
  std::string token_;
};

}  // namespace weft::api
