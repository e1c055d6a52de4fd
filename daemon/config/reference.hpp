// SPDX-License-Identifier: Apache-2.0
#pragma once
// Documents made from the schema; deploy/config holds copies that a test compares.

#include <string>

#include "daemon/config/load.hpp"

namespace weft::config {

/// deploy/config/reference.md and collector-reference.md: every key with type, default, allowed values, flag and
/// reason.
template <typename Config = WeftdConfig>
std::string reference_document();
/// deploy/config/weftd.toml and weft-collector.toml: every key with its default, commented out.
template <typename Config = WeftdConfig>
std::string example_config();

}  // namespace weft::config
