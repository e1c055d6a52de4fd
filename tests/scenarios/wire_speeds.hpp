// SPDX-License-Identifier: Apache-2.0
#pragma once
// A link's speeds as a sweep reads them: put into a PortInfo as a port sends it, and decoded again.

#include "fabric/link_rate.hpp"

namespace weft::scenarios {

struct WireSpeeds {
  SpeedMask active = 0;
  SpeedMask enabled = 0;
  SpeedMask supported = 0;
};

/// What the decoder of PortInfo makes of a port that is up with these speeds (IBA vol. 1, 14.2.5.6; the fields of XDR
/// after rdma-core 0538e6de8). FDR10, which PortInfo does not have, must not be among them.
WireSpeeds read_from_wire(const WireSpeeds& real);

}  // namespace weft::scenarios
