// SPDX-License-Identifier: Apache-2.0
#pragma once
// What dcbnl says of priority flow control (linux/dcbnl.h, RTM_GETDCB). Pure.

#include "collectors/ethernet/ethtool_message.hpp"

namespace weft::ethernet {

/// Adds the PFC frames sent and received of each priority, and which priorities have PFC, to `figures`. `attributes`
/// are those behind dcbmsg of an answer to DCB_CMD_IEEE_GET.
void parse_dcb_pfc(netlink::Bytes attributes, Figures& figures);

}  // namespace weft::ethernet
