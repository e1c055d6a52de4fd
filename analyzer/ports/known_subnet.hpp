// SPDX-License-Identifier: Apache-2.0
#pragma once
// InfiniBand subnets that are known, with the links of hosts there, and who tells of them now.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fabric/analyzer_state.hpp"

namespace weft::analyzer {

/// Who tells of a subnet now. The better one is greater.
enum class SubnetSight : std::uint8_t {
  kUnswept,  ///< nobody but collectors: no port of this host leads there, it is down, or there is no sweep of late
  kAwaited,  ///< nobody since the start, but its sweeps may be about to begin
  kSwept,    ///< its sweeps, also of what they do not find there any more
};

/// One of them.
struct KnownSubnet {
  std::string name;
  /// With an adapter at one end at least, that were up at some time; not null.
  std::shared_ptr<const std::vector<KnownLink>> host_links;
  SubnetSight sight = SubnetSight::kUnswept;
  std::uint64_t revision = 0;  ///< another one: there are other links, as far as the name is the same
};

}  // namespace weft::analyzer
