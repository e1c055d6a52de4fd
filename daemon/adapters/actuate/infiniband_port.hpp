// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links of an InfiniBand subnet taken out of service and brought back, by the physical state of one switch port.

#include <chrono>
#include <filesystem>
#include <memory>

#include "daemon/adapters/actuate/actuator.hpp"

namespace weft::actuate {

/// Options of the actuator "infiniband_port".
struct InfinibandPortOptions {
  std::filesystem::path program;    ///< weft-port, which alone opens the adapter
  std::filesystem::path directory;  ///< it works there; made when it is missing
  /// File with the subnet's M_Key, read anew each time; empty: the subnet uses none.
  std::filesystem::path management_key_file;
  std::chrono::milliseconds timeout{500};   ///< for one try of one datagram
  std::uint32_t retries = 2;                ///< further tries of what only reads
  std::chrono::milliseconds settling{500};  ///< that a port may need to show what was set
  std::chrono::seconds bound{28};           ///< for one call of the actuator, whatever it takes
};

/// "infiniband_port": kIsolateLink sets PortPhysicalState = Disabled on the end of the link that is nearer to our own
/// port (find_link_ends), or that the plan chose before (RemedyOrder::end), kRestoreLink sets Polling there. Every
/// order needs its sweep.
///
/// observe(): nothing in a subnet tells who disabled a port; whether it was us is for the plan's journal to say. So:
/// our end Disabled: kOurs. The other end Disabled and ours not: kForeign, for we never set that one. Neither: kClear,
/// whether the link is up or not.
/// latest_landing(): two minutes. What sends it ends with weftd or at its deadline, and no switch keeps a packet for
/// more than some seconds (PortInfo.HOQLife, IBA volume 1, 14.2.5.6).
/// apply(): an access link, the link we sit on, one that is the last way to one of its ends, one that is cabled
/// otherwise than the order says, and a switch whose M_Key we do not have, are kFailedPrecondition.
std::unique_ptr<Actuator> make_infiniband_port(InfinibandPortOptions options);

}  // namespace weft::actuate
