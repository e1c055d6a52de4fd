// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a first start of this weftd would change: weftd --check-upgrade.

#include <ostream>
#include <span>

#include "daemon/adapters/store/store.hpp"

namespace weft::daemon {

/// Says on `out` of each database whether it will be migrated, and whether an older weftd could use it afterwards.
/// `version` is that of this weftd.
void tell_upgrade(std::ostream& out, std::span<const store::DatabaseVersion> databases, const std::string& version);

}  // namespace weft::daemon
