// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links that stay up while OpenSM avoids them: hop weights, and a request to route anew.

#include <cstdint>
#include <filesystem>
#include <memory>

#include "daemon/adapters/actuate/actuator.hpp"

namespace weft::actuate {

/// How OpenSM is asked to route anew. By its console where there is a port, else by SIGHUP. OpenSM runs on this
/// machine: its console listens on the loopback address alone (--console loopback), and the file is its own.
struct OpensmWeightsOptions {
  /// hop_weights_file of opensm.conf. Engines that count hops honour it (minhop, dor); updn and ftree do not.
  std::filesystem::path file;
  /// Hops that a marked link counts for in each direction, 2..255. 64: no way round is that long, and the link stays
  /// the last resort; at 255 OpenSM takes it for no way at all.
  unsigned weight = 64;
  std::uint16_t console_port = 0;  ///< 0: no console
  /// With its process number, as start-stop-daemon or opensm --daemon --pidfile write it. OpenSM sees to a SIGHUP
  /// within ten seconds, and sweeps.
  std::filesystem::path pid_file;
};

/// "opensm_weights": kRaiseLinkCost puts a line for each end of a link between two switches into the file, kRestoreLink
/// takes ours out again. The order's sweep tells whether OpenSM has followed: is_routed_over() of its tables.
///
/// observe(): kOurs when both ends have our line; kForeign when a line of somebody else names an end with a weight
/// above one; else kClear. The detail says how many LIDs still lead over the link. apply() asks for a reroute also
/// where the lines stand already, while tables lead over a link that is to be avoided. An OpenSM that is not there is
/// kFailedPrecondition, and the file stays as it is.
/// out_of_service(): ports with a line of `weight` or more. Lower ones shape the routes of a fabric that is well.
/// Without a file there are none, without its folder (a mount, perhaps) that is not known.
///
/// kInvalidArgument: `options` have neither a console nor a file with a process id, so that nobody tells OpenSM.
Result<std::unique_ptr<Actuator>> make_opensm_weights(OpensmWeightsOptions options);

}  // namespace weft::actuate
