// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"

// gnmi.* and otlp.*: switches that are read by their own telemetry.

namespace weft::config {
namespace {

/// All lines go to weft-switches in one message of bounded length (daemon/platform/runtime, kMostOptionBytes).
constexpr std::size_t kMostTargetText = 24'000;

}  // namespace

std::vector<Key> gnmi_schema() {
  return {
      {"gnmi.targets",
       [](WeftdConfig& c) -> Field { return &c.gnmi.targets; },
       {},
       "",
       "Switches to read by gNMI, `\"leaf01 192.0.2.11:9339\"` each: its name, and HOST:PORT. Behind these may stand "
       "`credentials=NAME` (files of that name in `gnmi.credentials_directory`; without it `default`), `login=basic` "
       "(HTTP Basic, as Cumulus Linux and NVOS want it; without it username and password go as gRPC metadata), "
       "`certificate=NAME` (the name in its certificate, where that is not HOST), `tls=off` (plain text, on this "
       "machine only), `set=off` (its ports are never set, whatever `remedy.gnmi_port.enabled` says) and "
       "`set=openconfig`, `set=srlinux` or `set=sonic` (how they are set, where the models that it tells do not say "
       "so). Empty, and without `gnmi.targets_file`: no switch is read."},
      {"gnmi.targets_file",
       [](WeftdConfig& c) -> Field { return &c.gnmi.targets_file; },
       {},
       "",
       "File with further switches, a line each as in `gnmi.targets`; # begins a comment. It is read again when it "
       "changes; while it is invalid, the targets stay as they were. Empty: none."},
      {"gnmi.credentials_directory",
       [](WeftdConfig& c) -> Field { return &c.gnmi.credentials_directory; },
       {},
       "",
       "Folder with the files NAME.ca (PEM, the CA of the switch's certificate; without it the system's CAs), NAME.crt "
       "and NAME.key (our certificate), NAME.login (username and password, in a line each). Keys and logins must be "
       "readable for their owner, or its group, alone. They are read for each connection. Empty: nothing is shown."},
      {"gnmi.sample_interval",
       [](WeftdConfig& c) -> Field { return &c.gnmi.sample_interval; },
       {100 * kMillisecond, kHour},
       "",
       "Interval at which switches send their counters. States and neighbours come when they change. Most switches "
       "read "
       "their hardware once a second or less often; a shorter interval costs their CPU."},
      {"gnmi.reconnect_limit",
       [](WeftdConfig& c) -> Field { return &c.gnmi.reconnect_limit; },
       {1, kHour},
       "",
       "Longest wait between two attempts to connect to a switch. The first one comes after a second, and each further "
       "one after up to twice the time."},
      {"gnmi.max_message",
       [](WeftdConfig& c) -> Field { return &c.gnmi.max_message; },
       {1 << 10, 256 << 20},
       "",
       "Largest message of a switch. A switch that sends a larger one is refused, and tried again later."},
      {"gnmi.max_values_per_second",
       [](WeftdConfig& c) -> Field { return &c.gnmi.max_values_per_second; },
       {1, 1e8},
       "values",
       "Values that are taken from one switch in a second. Further ones wait in the switch: a flood slows itself down, "
       "and nobody else."},
      {"gnmi.max_ports",
       [](WeftdConfig& c) -> Field { return &c.gnmi.max_ports; },
       {1, 2048},
       "ports",
       "Ports of one switch, subinterfaces that it lists as ports included. Further ones are left out, and counted."},
      {"gnmi.max_targets",
       [](WeftdConfig& c) -> Field { return &c.gnmi.max_targets; },
       {1, 10'000},
       "switches",
       "Maximum of switches; a longer list is refused."},
      {"gnmi.program",
       [](WeftdConfig& c) -> Field { return &c.gnmi.program; },
       {},
       "",
       "Program that reads the switches. Empty: weft-switches beside weftd."},
      {"otlp.names_file",
       [](WeftdConfig& c) -> Field { return &c.otlp.names_file; },
       {},
       "",
       "TOML file that says what the names of pushed metrics mean: which attributes name the switch and the port, and "
       "which counter of the catalogue, state or speed each metric is. With it weftd takes metrics by OTLP (gRPC, on "
       "`listen.grpc`) from whoever has the role collector. It is read at start. Empty: nobody may push."},
      {"otlp.interval",
       [](WeftdConfig& c) -> Field { return &c.otlp.interval; },
       {100 * kMillisecond, kHour},
       "",
       "Interval at which they push. What was not told for three of them is absent; a switch that pushed nothing for "
       "so "
       "long is not heard any more."},
      {"otlp.max_nodes",
       [](WeftdConfig& c) -> Field { return &c.otlp.max_nodes; },
       {1, 10'000},
       "switches",
       "Maximum of switches that are told of. What further ones push is rejected."},
  };
}

std::vector<std::pair<std::string, std::string>> gnmi_contradictions(const Gnmi& gnmi) {
  std::vector<std::pair<std::string, std::string>> found;
  std::size_t size = 0;
  for (const std::string& line : gnmi.targets) size += line.size() + 1;
  if (size > kMostTargetText) found.emplace_back("gnmi.targets", "is too long: list them in gnmi.targets_file");
  return found;
}

}  // namespace weft::config
