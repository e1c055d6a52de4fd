// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where things are unless somebody says otherwise.

#include <string_view>

namespace weft::usage {

/// weftd's Unix socket for accounts of its host. Its folder is the RuntimeDirectory of the systemd unit.
inline constexpr std::string_view kStandardSocket = "/run/weft/weftd.sock";
/// weftd's gRPC listener.
inline constexpr std::string_view kStandardServer = "127.0.0.1:9641";

}  // namespace weft::usage
