// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/topology_file.hpp"

#include "fuzz.hpp"

// Whatever a file holds: a graph whose links are mutual, or faults with their lines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  const weft::Result<weft::Topology> parsed = weft::infiniband::parse_topology_file(weft::fuzz::text_of(data, size));
  if (!parsed) {
    demand(parsed.error().code == weft::ErrorCode::kInvalidArgument, "a wrong file is the file's fault");
    demand(parsed.error().message.starts_with("line "), "a fault names its line");
    return 0;
  }
  demand(!parsed->nodes().empty(), "a graph has nodes");
  demand(weft::Topology::validate(parsed->nodes(), parsed->ports()).empty(), "the graph is sound");
  for (const weft::Node& node : parsed->nodes()) {
    demand(static_cast<bool>(node.guid), "every node has a GUID");
    demand(parsed->find_node(node.guid) != weft::kNoIndex, "every node is found by its GUID");
  }
  for (const weft::Port& port : parsed->ports()) {
    demand(port.peer == weft::kNoIndex || port.is_up(), "a cabled port is up");
    demand(port.is_up() || (port.width_active == 0 && port.speed_active == 0), "a port that is down has no rate");
  }
  return 0;
}
