// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links that NVIDIA's UFM Enterprise keeps out of its routing while they stay up: its list of unhealthy ports.

#include <filesystem>
#include <memory>
#include <string>

#include "daemon/adapters/actuate/actuator.hpp"
#include "fabric/clock.hpp"

namespace weft::actuate {

/// Options of the actuator "ufm".
struct UfmOptions {
  std::string url;  ///< "https://ufm.example"; without TLS on the loopback address alone: a password goes over it
  std::filesystem::path credentials_file;  ///< "user:password", read anew each time (read_secret)
  std::filesystem::path authorities_file;  ///< PEM, that the server's certificate must come from; empty: the system's
  Duration timeout = std::chrono::seconds(10);  ///< of one request, of which a call makes at most two
};

/// "ufm": kIsolateLink puts the end of the link that is nearer to us (find_link_ends), or that the plan chose before,
/// on the list with the action isolate, kRestoreLink marks it healthy. (UFM Enterprise REST API Guide, Unhealthy Ports
/// REST API: PUT /ufmRest/app/unhealthy_ports, ports named <GUID>_<number>.) UFM's answer means that it will be done:
/// who calls reads observe(), and the forwarding tables, until it is so.
///
/// observe(): UFM writes down no reason and no name. A port on the list for the condition MANUAL was put there through
/// its API or its page, and whether by us is for the plan's journal to say: our end so marked is kOurs. On the list for
/// any other condition (the subnet manager's own finding), or the other end on it alone, is kForeign and left alone.
/// out_of_service(): all ports of the list.
std::unique_ptr<Actuator> make_ufm(UfmOptions options);

}  // namespace weft::actuate
