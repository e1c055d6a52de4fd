// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions about the past, and their answers as messages. Pure: no I/O, `now` passed in.

#include <memory>
#include <vector>

#include "fabric/port_history.hpp"
#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/history.pb.h"

namespace weft::api {

/// Which time is asked for, and the length of a bucket.
struct HistoryTime {
  TimePoint from;
  TimePoint to;
  Duration step{};
};

/// Null: a day before `to`, and now. `points` is 1 at least: at most so many buckets and two. The time begins at a
/// whole step. kInvalidArgument for a time that ends before it begins or lies ahead.
Result<HistoryTime> history_time(const google::protobuf::Timestamp* from, const google::protobuf::Timestamp* to,
                                 std::uint32_t points, TimePoint now);

/// A request whose names are resolved.
struct PortHistoryQuestion {
  HistoryQuestion question;
  std::vector<PortIndex> ports{};      ///< of the question, in the topology of `fabric`; none where a node is gone
  const FabricView* fabric = nullptr;  ///< null where a node is gone
  std::shared_ptr<const Snapshot> snapshot{};  ///< keeps `fabric`
  bool with_still = false;
};

/// A GUID that no fabric has, as "0x…", "0x…:12" or "0x… port 12", is a node that is gone: the history may have it.
/// kNotFound for any other unknown node or port; kFailedPrecondition for a name that is in several fabrics;
/// kInvalidArgument for an unknown counter, a time that ends before it begins or lies ahead, or more than 2000 points.
Result<PortHistoryQuestion> parse_port_history(std::shared_ptr<const Snapshot> snapshot,
                                               const v1::GetPortHistoryRequest& request, TimePoint now);
/// The answer with the names of its ports, in units of people, and what happened meanwhile. kResourceExhausted when it
/// would be more than 3 MB.
Result<v1::GetPortHistoryResponse> port_history(const PortHistoryQuestion& asked, const HistoryAnswer& answer);

}  // namespace weft::api
