// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the daemon adds to evidence packs: who makes them, and what it judges by.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/incident.hpp"

namespace weft::api {

/// A number that rules compare with, and where it comes from.
struct ThresholdText {
  std::string key;            ///< of the configuration: "analyzer.error_rate_limit"
  std::string value;          ///< as TOML; so is the next
  std::string default_value;  ///< equal to `value` where nobody changed it
  std::string source;         ///< what it means, and the reason of its default
};

/// Set up once; read by any thread.
struct EvidenceSource {
  std::string version;  ///< of weftd
  std::string host;     ///< that it runs on
  std::map<IncidentKind, std::vector<ThresholdText>> thresholds{};
  /// The HTML page of that path ("/runbooks/LINK_DOWN"); empty: there is none. What it returns lives as long as the
  /// program.
  std::function<std::string_view(std::string_view path)> page{};
};

}  // namespace weft::api
