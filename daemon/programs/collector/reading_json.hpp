// SPDX-License-Identifier: Apache-2.0
#pragma once
// One reading as JSON, for people and scripts that want to see what the collector sees.

#include <string>

#include "fabric/host.hpp"

namespace weft::collector {

/// An object {node, taken, ports, values, sources, jobs}, indented. Absent values are not in it.
std::string to_json(const std::string& node, const HostReading& reading);

}  // namespace weft::collector
