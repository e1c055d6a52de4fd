// SPDX-License-Identifier: Apache-2.0
#pragma once
// Slurm as an actuator: drains a host's node with a reason that names plan and incident, and takes back no drain but
// our own.

#include <filesystem>
#include <memory>
#include <string>

#include "daemon/adapters/actuate/actuator.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// Options of the actuator "slurm".
struct SlurmOptions {
  std::string scontrol = "scontrol";  ///< the program: a name that is looked for in PATH, or a path
  std::filesystem::path slurm_conf;   ///< SLURM_CONF of scontrol; empty: Slurm's own place, or its DNS record

  std::string rest_url;  ///< "http://127.0.0.1:6820" or "unix:/run/slurmrestd.socket": slurmrestd instead of scontrol
  std::string rest_version = "v0.0.39";   ///< of slurmrestd's API; v0.0.39 or later
  std::string rest_user = "slurm";        ///< X-SLURM-USER-NAME: whom the token is for
  std::filesystem::path rest_token_file;  ///< a JWT of `scontrol token`, read anew each time; empty: none is sent
  std::filesystem::path rest_certificate_authorities;  ///< PEM; empty: the system's

  Duration timeout = std::chrono::seconds(20);  ///< of one call of the actuator; at most kLongestCall counts
};

/// An Actuator of the name "slurm" for kDrainNode and kUndrainNode of RemedyOrder::target.host. kNotFound: scontrol is
/// not installed; kInvalidArgument: the options contradict each other. Slurm itself is not asked yet.
///
/// Slurm has no change that depends on what is there: between our last reading and our change, some milliseconds, an
/// operator's reason can be lost. And a controller that hung when we asked may still do it when it comes back, long
/// after our kTimeout: read again before deciding anything. Nor has it on its disk at once what it says is done: killed
/// within some five seconds, slurmctld comes back with how it was before.
Result<std::unique_ptr<Actuator>> make_slurm_actuator(const SlurmOptions& options);

}  // namespace weft::actuate
