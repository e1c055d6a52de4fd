// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a watcher of subnets is sent next.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fabric/snapshot.hpp"
#include "weft/v1/fabric.pb.h"

namespace weft::api {

/// Summaries of sweeps and changed ports and nodes. It keeps eight bytes for each port and one for each node, so that a
/// slow reader holds no old topology alive; between two messages it is the difference that counts, not the steps.
class FabricFeed {
 public:
  using Message = v1::WatchFabricResponse;
  explicit FabricFeed(const v1::WatchFabricRequest& request) : wanted_(request.fabric()) {}
  /// The next message that the snapshot gives cause for; false when the watcher knows all of it.
  bool next(const Snapshot& snapshot, Message& message);

 private:
  struct Told {
    bool any = false;  ///< a message was sent
    bool watching = false;
    std::string status;
    bool graph = false;  ///< the vectors below hold a sweep's states
    std::uint64_t epoch = 0;
    std::uint64_t sweep = 0;
    bool more = false;  ///< the last message had no room for all changes
    std::size_t next_port = 0;
    std::vector<std::uint64_t> ports;
    std::vector<std::uint8_t> nodes;
  };
  static bool tell(const FabricView& view, Told& told, Message& message);
  static void tell_changes(const FabricView& view, Told& told, Message& message);

  std::string wanted_;  ///< empty: all
  std::map<std::string, Told> told_;
  std::size_t turn_ = 0;
};

}  // namespace weft::api
