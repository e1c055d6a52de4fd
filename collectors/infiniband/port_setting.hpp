// SPDX-License-Identifier: Apache-2.0
#pragma once
// One external port of one switch, reached by directed route: read, and taken out of service or put back. The only
// place that writes to a subnet. Clauses are of the InfiniBand Architecture Specification, volume 1.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "collectors/infiniband/mad_port.hpp"

namespace weft::infiniband {

/// What is wanted of which port.
struct PortQuestion {
  DirectedRoute route;  ///< to its switch, by another way than through the port; at most 62 hops
  PortKey port;         ///< the switch's GUID, and one of its external ports
  PortKey peer;         ///< that must be behind it
  /// Disable it although it is not up and nobody can be asked who is behind it: whoever decided saw it down.
  bool down_as_reviewed = false;
  /// PortPhysicalState to be set: kDisabled or kPolling (14.2.5.6). nullopt: only read.
  std::optional<PortPhysicalState> wanted;
  std::uint64_t management_key = 0;        ///< M_Key (14.2.4); 0: the subnet uses none
  std::chrono::milliseconds timeout{500};  ///< for one try of one request
  std::uint32_t retries = 2;               ///< further tries of what only reads; a Set goes out once
  /// How long a port that took a Set may need until it shows it.
  std::chrono::milliseconds settling{500};
  /// Asked directly before a Set: true: it is too late, and nothing is set. None: it never is.
  std::function<bool()> is_late{};
};

/// How a question to a port ended.
enum class PortOutcome : std::uint8_t {
  kRead,      ///< as asked, nothing was sent but questions
  kDone,      ///< set, and read back
  kAlready,   ///< it is so already; nothing was set
  kNotThat,   ///< it is not the port that is meant; nothing was set
  kNeedsKey,  ///< the switch wants another M_Key than ours; nothing was set
  kSilent,    ///< no answer; nothing was set
  kRefused,   ///< the switch said no to the Set, and the port is as it was
  kLate,      ///< PortQuestion::is_late said so; nothing was set
  kUnseen,    ///< it is not up, so nobody can be asked who is behind it; nothing was set
  kUnclear,   ///< the Set went out, and the port does not show it: it may yet
  kCount,
};
const char* to_string(PortOutcome outcome);  ///< "read", "done", "already", "not_that", …
/// The reverse of to_string(); nullopt for any other text.
std::optional<PortOutcome> parse_port_outcome(std::string_view text);

/// The answer to a PortQuestion.
struct PortReport {
  PortOutcome outcome = PortOutcome::kSilent;
  PortState state = PortState::kUnknown;  ///< as last read, kUnknown when never
  PortPhysicalState physical_state = PortPhysicalState::kUnknown;
  std::optional<PortKey> behind;  ///< who answered through the port; asked for before a Set only, of a link that is up
  std::string detail;             ///< one sentence for people
};

/// Checks who answers at the end of the route and behind the port, then sets once, then reads back. Whether a Set whose
/// reply did not come was taken is found by reading. Never disables a port that is not up, unless
/// PortQuestion::down_as_reviewed: a cable that was moved and is just training would be somebody else's. Never sets the
/// port that the route comes in by, nor kPolling on a port that is not Disabled, which would break a link that is up.
/// Blocks for at most about 4 · (retries + 1) · timeout
/// + settling.
/// kUnavailable: the local port is gone (nothing is known of a Set then); kInvalidArgument: the question is none.
Result<PortReport> ask_port(MadPort& port, const PortQuestion& question);

/// Writes a SubnSet(PortInfo) for external port `port` of the switch at the end of `route`: everything as in `read`, a
/// reply to a Get of that port, but PortPhysicalState = `wanted`, and "no change" in the fields that know one and whose
/// writing might do more: PortState, LinkDownDefaultState, LinkWidthEnabled, LinkSpeedEnabled and its extensions, and
/// no ClientReregister. `extended_speeds`: CapabilityMask bit 14 of the switch, told in bit 31 of the modifier so that
/// an agent does not take us for a manager that knows no extended speeds.
void encode_port_info_set(MadBytes mad, const DirectedRoute& route, PortNum port, ConstMadBytes read,
                          PortPhysicalState wanted, bool extended_speeds);

}  // namespace weft::infiniband
