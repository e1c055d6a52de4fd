// SPDX-License-Identifier: Apache-2.0
#pragma once
// What evidence packs say of this weftd.

#include <string>

#include "api/publication/evidence_source.hpp"
#include "daemon/config/config.hpp"

namespace weft::daemon {

/// Version and host, the numbers that it judges by, and the runbooks that it serves.
api::EvidenceSource evidence_source(const config::WeftdConfig& config, const std::string& version);

}  // namespace weft::daemon
