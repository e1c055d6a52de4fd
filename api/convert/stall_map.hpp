// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long all switches of a fabric waited to send, as a question and its answer. Pure: no I/O, `now` passed in.

#include <memory>
#include <vector>

#include "fabric/port_history.hpp"
#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/history.pb.h"

namespace weft::api {

/// A request whose fabric is found.
struct StallMapQuestion {
  StallQuestion question;
  std::vector<NodeIndex> switches{};  ///< for each row of the question, in the topology of `fabric`
  const FabricView* fabric = nullptr;
  std::shared_ptr<const Snapshot> snapshot{};  ///< keeps `fabric`
  std::size_t rows = 0;                        ///< at most so many are told
};

/// kNotFound for an unknown fabric, or one that has not been read yet; kFailedPrecondition where none is named and
/// there are several; kInvalidArgument as history_time(), and for more than 240 points or 1000 rows.
Result<StallMapQuestion> parse_stall_map(std::shared_ptr<const Snapshot> snapshot,
                                         const v1::GetStallMapRequest& request, TimePoint now);
/// The answer with the names of its switches, the worst first.
v1::GetStallMapResponse stall_map(const StallMapQuestion& asked, const StallAnswer& answer);

}  // namespace weft::api
