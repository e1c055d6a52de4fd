// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"

// drift.*: every number of analyzer/thresholds/config_drift.hpp as a key of its own name, and the file of profiles.

namespace weft::config {

std::vector<Key> drift_schema() {
  return {
      {"drift.enabled",
       [](WeftdConfig& c) -> Field { return &c.analyzer.config_drift.enabled; },
       {},
       "",
       "Compare the settings of ports and adapters that collectors tell of (firmware, MTU, PFC, PCIe link and others) "
       "among those of one make, and between the ends of a link. What differs is CONFIG_DRIFT."},
      {"drift.rollout",
       [](WeftdConfig& c) -> Field { return &c.analyzer.config_drift.rollout; },
       {0, 30 * kDay},
       "",
       "A difference younger than this may be a rollout that is under way: weftctl drift shows it, and it is no "
       "incident. After a restart of weftd those that were no incident yet begin anew."},
      {"drift.least_hosts",
       [](WeftdConfig& c) -> Field { return &c.analyzer.config_drift.least_hosts; },
       {2, 10000},
       "hosts",
       "A difference among ports on fewer hosts is shown as undecided, for who of three is right would be a guess: "
       "unless a port differs from most others of its own host and from the same one of another. Hosts are compared "
       "with those that are called alike (names without digits) where so many are."},
      {"drift.majority",
       [](WeftdConfig& c) -> Field { return &c.analyzer.config_drift.majority; },
       {0.5, 1},
       "share",
       "Without a value that this share of the ports have, and more than half, a difference is shown as undecided."},
      {"drift.profiles_file",
       [](WeftdConfig& c) -> Field { return &c.drift_profiles_file; },
       {},
       "",
       "TOML file that says how ports and adapters should be set up: [[profile]] with name, hosts, ports, boards, "
       "based_on and [profile.expect]; deploy/guide/drift.md has an example. Settings of which a profile speaks are "
       "compared with it, and not with what most have. It is read at start. Empty: there is none."},
  };
}

}  // namespace weft::config
