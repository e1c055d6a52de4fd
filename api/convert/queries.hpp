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

v1::Status status(const Snapshot& snapshot);

Result<v1::ListNodesResponse> list_nodes(const Snapshot& snapshot, const v1::ListNodesRequest& request);
/// kNotFound; kFailedPrecondition when the name is that of more nodes than one answer holds.
Result<v1::GetNodeResponse> get_node(const Snapshot& snapshot, std::string_view name, TimePoint now);
Result<v1::ListPortsResponse> list_ports(const Snapshot& snapshot, const v1::ListPortsRequest& request, TimePoint now);
Result<v1::ListLinksResponse> list_links(const Snapshot& snapshot, const v1::ListLinksRequest& request);

Result<v1::ListIncidentsResponse> list_incidents(const Snapshot& snapshot, const v1::ListIncidentsRequest& request);
/// `id` as a person writes it: "INC-17", "17".
Result<v1::Incident> get_incident(const Snapshot& snapshot, std::string_view id);

Result<v1::ListHealthResponse> list_health(const Snapshot& snapshot, const v1::ListHealthRequest& request);
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
