// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weft-sweeper is told to do: by weftd in one message (daemon/platform/runtime, send_options()), by hand in flags.
// weftd sends the message again when what it acts as has changed; nothing else of it is read then.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "collectors/infiniband/sweeper.hpp"
#include "fabric/result.hpp"

namespace weft::sweeper {

/// Which port to read the subnet through, and how.
struct Options {
  /// The defaults of a run by hand.
  Options() {
    sweep.fabric = "fabric";
    sweep.engine.timeout = std::chrono::milliseconds(200);
  }

  std::string adapter;                  ///< "mlx5_0"; empty: the first
  std::uint8_t port = 0;                ///< of the adapter; 0: the first that is up
  std::filesystem::path node_name_map;  ///< file with names by GUID; empty: none
  /// `names` stays empty until the file is read. `fabric` is in no message: weftd gives it as a flag, which ps shows.
  infiniband::SweeperOptions sweep;

  /// The fields of the message.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    auto& sweep = self.sweep;
    visit(self.adapter, self.port, self.node_name_map, sweep.engine.window, sweep.engine.per_node_outstanding,
          sweep.engine.timeout, sweep.engine.retries, sweep.engine.management_key, sweep.interval,
          sweep.detail_interval, sweep.service_level, sweep.pkey_index, sweep.clear_saturated_counters,
          sweep.first_epoch, sweep.acts_as.installation, sweep.acts_as.run);
  }

  /// kInvalidArgument names the first value that is out of its bounds.
  Result<void> check() const;
};

}  // namespace weft::sweeper
