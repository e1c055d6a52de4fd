// SPDX-License-Identifier: Apache-2.0
#pragma once
// The end of an InfiniBand cable as people write it.

#include <optional>

#include "collectors/cabling/cable_line.hpp"

namespace weft::cabling {

/// The node's name and its port's number, "1" to "254":
///  - ("leaf-1", "26"), ("leaf-1", "Port 26"), ("leaf-1", "P26"), ("leaf-1", "(spare) Port 26") → ("leaf-1", "26");
///  - an adapter of a host, which a node's description names behind the host: ("gpu-01", "mlx5_0"),
///    ("gpu-01", "mlx5_0/1"), ("gpu-01", "mlx5_0 port 1"), ("gpu-01", "gpu-01 mlx5_0") → ("gpu-01 mlx5_0", "1");
///  - a port of a director switch as UFM's NDT files have it (NVIDIA UFM Enterprise User Manual, "NDT Plugin"):
///    ("core", "Blade 16_Port 2/20") → ("core/L16/U2", "20"), the leaf module's second switch.
/// Nullopt for any other text.
std::optional<WrittenEnd> subnet_end(const WrittenEnd& written);

}  // namespace weft::cabling
