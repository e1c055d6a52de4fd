// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is out of service by the word of a partner: a scheduler, a subnet manager.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/ids.hpp"

namespace weft::analyzer {

/// Hosts that are drained now, by whomever, as their scheduler told. Finding some names among them takes time by the
/// number of those names, not of the hosts.
class DrainedHosts {
 public:
  /// The scheduler has not told yet.
  DrainedHosts() = default;
  /// Each of the hosts by all its names. `told`: when it was read, on the steady clock.
  DrainedHosts(const std::vector<std::vector<std::string>>& hosts, Duration told);

  /// When it was read, on the steady clock; nullopt: never.
  std::optional<Duration> told() const { return told_; }
  /// How many of the hosts are none of `ours`.
  std::size_t besides(std::span<const std::string_view> ours) const;
  /// The host is among them, short or qualified.
  bool has(std::string_view host) const;

 private:
  struct Name {
    std::string name;
    std::size_t host;
  };
  std::optional<Duration> told_;
  std::size_t count_ = 0;
  std::unordered_multimap<std::string, Name> names_;  ///< by short name
};

/// Ports of links that a subnet manager is told to avoid or to do without, by whomever.
struct AvoidedPorts {
  std::vector<PortKey> ports;
  std::optional<Duration> told;  ///< when it was read, on the steady clock; nullopt: never
};

/// Why `who`, who told last at `told`, is not to be gone by at `now`: "slurm has not told for 4 min which hosts are
/// drained" with `what` for the end of it; nullopt: it is read each minute, and three failures in a row are borne.
std::optional<std::string> untold(std::string_view who, std::string_view what, std::optional<Duration> told,
                                  Duration now);

}  // namespace weft::analyzer
