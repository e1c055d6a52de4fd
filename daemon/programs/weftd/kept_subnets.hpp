// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subnets that the ledger knows under names of their own: what is known by the name in the configuration is another.

#include <algorithm>
#include <string>

#include "daemon/config/config.hpp"
#include "fabric/analyzer_state.hpp"

namespace weft::daemon {

/// "ibsim0-1@0x0002c90300000100": not ibsim0-1 any more, but the subnet of that switch. No name in the configuration
/// has it (daemon/config/value_text.cpp).
inline constexpr char kOfSwitch = '@';
/// A subnet that no weftd of this ledger has read for longer is given up.
inline constexpr Duration kLongestUnseen = std::chrono::hours(7 * 24);

/// It is such a name.
inline bool is_kept(const std::string& name) {
  return name.find(kOfSwitch) != std::string::npos;
}

/// "ibsim0-1" of the name above.
inline std::string name_before(const std::string& kept) {
  return kept.substr(0, kept.find(kOfSwitch));
}

/// Ports that are named are all that a person wants to be watched; of ports that are found one may be missing, and a
/// weftd that just started does not know it. What another subnet has the name of is missing as long as that is named.
inline bool is_wanted(const std::string& name, const config::InfinibandPorts& ports) {
  if (ports.automatic) return true;
  return is_kept(name) &&
         std::ranges::find(ports.named, name_before(name), &config::InfinibandPort::fabric) != ports.named.end();
}

/// A cable of an Ethernet fabric: its ports have names.
inline bool is_ethernet(const KnownLink& link) {
  return !link.low.port_name.empty() || !link.high.port_name.empty();
}

}  // namespace weft::daemon
