// SPDX-License-Identifier: Apache-2.0
#pragma once
// Types of values that the configurations of several programs have.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"

namespace weft::config {

/// Whose configuration it is, for messages and documents.
struct ProgramNames {
  std::string_view program;      ///< "weftd"
  std::string_view file;         ///< of the folder /etc/weft: "weftd.toml"
  std::string_view own_section;  ///< heading of the keys that are in no table
};

/// A numeric address and a TCP port; port 0 lets the kernel choose a free one.
struct Address {
  std::string host;  ///< IPv4 or IPv6, without brackets
  std::uint16_t port = 0;
  bool operator==(const Address&) const = default;
};

/// A number of bytes.
struct Bytes {
  std::uint64_t value = 0;
  bool operator==(const Bytes&) const = default;
};

/// A TCP port of another host, which may be named.
struct Peer {
  std::string host;  ///< a name, IPv4 or IPv6 without brackets
  std::uint16_t port = 0;
  bool operator==(const Peer&) const = default;
};

/// Section [metrics] of each program that has /metrics: which series it has.
struct Metrics {
  bool zeros = false;                                   ///< counters that never moved have series, too
  Duration scrape_interval = std::chrono::seconds(60);  ///< the longest of all scrapers
  std::vector<std::string> groups;                      ///< names of groups (metric_groups()); empty: all

  /// How long the first movement of a counter is withheld, so that every scraper sees its zero: half as long again as
  /// the longest interval, for scrapes and publications that are late. Nullopt: no counter is left out.
  std::optional<Duration> withheld() const {
    if (zeros) return std::nullopt;
    return scrape_interval + std::max<Duration>(scrape_interval / 2, std::chrono::seconds(2));
  }
};

}  // namespace weft::config
