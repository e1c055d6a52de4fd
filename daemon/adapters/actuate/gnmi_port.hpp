// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links of an Ethernet fabric taken out of service and brought back, by gNMI Set on one switch port.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "daemon/adapters/actuate/actuator.hpp"

namespace weft::actuate {

/// Options of the actuator "gnmi_port".
struct GnmiPortOptions {
  std::filesystem::path program;    ///< weft-switches, which alone speaks gNMI
  std::filesystem::path directory;  ///< it works there; made when it is missing
  std::string targets;              ///< these and the following as of the section [gnmi]
  std::filesystem::path targets_file;
  std::filesystem::path credentials_directory;
  std::uint64_t max_message_bytes = 4ULL << 20;
  unsigned max_targets = 1'000;
  Duration timeout = std::chrono::seconds(10);  ///< of one question to one switch; a step asks three at most
};
/// The name of the actuator, as Plan::actuator has it.
inline constexpr const char* kGnmiPort = "gnmi_port";

/// kIsolateLink shuts the end that the plan chose (RemedyOrder::end), kRestoreLink enables it. The link's other end is
/// never set. Every order needs its sweep, which has the names of switches and interfaces.
///
/// observe(): nothing in a switch tells who shut a port; whether it was us is for the plan's journal to say. So: our
/// end shut: kOurs. The other end shut and ours not: kForeign, for we never set that one. Neither, and the other end
/// where it cannot be read to bring something back: kClear, whether the link is up or not. apply(): a port behind which
/// LLDP tells another switch of the fabric is kNotFound. latest_landing() is not known: a switch may carry out later
/// what it took before it hung.
std::unique_ptr<Actuator> make_gnmi_port(GnmiPortOptions options);

}  // namespace weft::actuate
