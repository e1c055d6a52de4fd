// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which keys decide about each kind of incident.

#include <string>
#include <vector>

#include "daemon/config/config.hpp"
#include "fabric/incident.hpp"

namespace weft::config {

/// A key that incidents of a kind are judged by.
struct JudgingKey {
  std::string name;           ///< "analyzer.error_rate_limit"
  std::string value;          ///< as TOML; so is the next
  std::string default_value;  ///< of the schema
  std::string help;           ///< what it means, and the reason of its default
};

/// In the order of the reference. None of a kind that no number decides about.
std::vector<JudgingKey> keys_that_judge(const WeftdConfig& config, IncidentKind kind);

}  // namespace weft::config
