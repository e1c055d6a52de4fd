// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which device of which host a port of a fabric is, as the hosts' collectors tell.

#include <string>
#include <unordered_map>

#include "fabric/snapshot.hpp"

namespace weft::api {

/// A device of a host; both live as long as the snapshot.
struct FoundDevice {
  const HostView* host = nullptr;
  const HostPort* device = nullptr;
  /// There is one.
  explicit operator bool() const { return device != nullptr; }
};

/// All devices that collectors tell of, by what joins them with the graph: the port's GUID on InfiniBand, host and
/// interface on Ethernet.
class HostDevices {
 public:
  /// O(devices). The snapshot must outlive it.
  explicit HostDevices(const Snapshot& snapshot);

  /// Of a port of a fabric; none where no collector tells of it.
  FoundDevice find(const Topology& topology, PortIndex index) const;
  /// Of a port that only its host's collector sees: an Entity of kind kHostPort.
  FoundDevice find(const Entity& host_port) const;

 private:
  std::unordered_map<std::uint64_t, FoundDevice> by_guid_;
  /// By short name: hosts of several domains may share one.
  std::unordered_multimap<std::string, const HostView*> by_host_;
};

/// What is set up at the device; null where its collector does not tell.
const PortFacts* facts_of(const FoundDevice& found);

}  // namespace weft::api
