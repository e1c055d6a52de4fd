// SPDX-License-Identifier: Apache-2.0
#pragma once
// Planned work as messages, and what a person names as a window.

#include <string_view>

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/maintenance.pb.h"

namespace weft::api {

/// Fills in the message of a window; its state is the one at `now`.
void to_proto(const MaintenanceWindow& from, TimePoint now, v1::MaintenanceWindow& to);

/// A page of windows. kInvalidArgument for a negative page size or a token that is none.
Result<v1::ListMaintenanceResponse> list_maintenance(const Snapshot& snapshot,
                                                     const v1::ListMaintenanceRequest& request, TimePoint now);
/// `id` as a person writes it: "MW-3", "3".
Result<v1::MaintenanceWindow> get_maintenance(const Snapshot& snapshot, std::string_view id, TimePoint now);

/// The window that is asked for, without an id: what it is about is looked up in the snapshot; kNotFound when nothing
/// is called so, kInvalidArgument when several things are or no length is given. Whether it may be is the daemon's to
/// say.
Result<MaintenanceWindow> wanted_maintenance(const Snapshot& snapshot, const v1::AddMaintenanceRequest& request,
                                             TimePoint now);
/// The reason as the record keeps it, 1024 bytes at most; the daemon says what it takes of these. kInvalidArgument for
/// control characters.
Result<void> keep_reason(MaintenanceWindow& window);

}  // namespace weft::api
