// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which InfiniBand ports this machine has, asked of weft-sweeper: weftd itself never opens a device.

#include <atomic>
#include <filesystem>
#include <string_view>
#include <vector>

#include "daemon/config/config.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// Runs `sweeper --list` in `directory`, for at most `patience`, or until `stop`. Active ports only. Blocks; call it on
/// a lane. kUnavailable with the sweeper's own words when it fails, kTimeout when it does not end.
Result<std::vector<config::InfinibandPort>> find_ports(const std::filesystem::path& sweeper,
                                                       const std::filesystem::path& directory, Duration patience,
                                                       const std::atomic<bool>& stop);

/// Reads what `weft-sweeper --list` prints: "mlx5_0:1<tab>0x…<tab>Active…" lines; others are left out.
std::vector<config::InfinibandPort> parse_port_list(std::string_view text);

}  // namespace weft::daemon
