// SPDX-License-Identifier: Apache-2.0
#pragma once
// How an interface is set up, as the kernel's answers say it: pause, FEC, PFC, ETS, DSCP. Pure; what an answer does not
// have gives no fact, and neither does what is malformed.

#include <vector>

#include "collectors/netlink/attributes.hpp"
#include "fabric/config_facts.hpp"

namespace weft::ethernet {

// Each adds what the answer has to `facts`.

/// ETHTOOL_MSG_PAUSE_GET (linux/ethtool_netlink.h); the attributes are those behind genlmsghdr. "rx,tx", "none",
/// "autoneg,rx,tx".
void parse_pause_facts(netlink::Bytes attributes, std::vector<FactValue>& facts);
/// ETHTOOL_MSG_FEC_GET with verbose bit sets; behind genlmsghdr. The setting: "auto,RS"; what is active only while the
/// link is up: "none", "RS", "BASER", "LLRS".
void parse_fec_facts(netlink::Bytes attributes, std::vector<FactValue>& facts);
/// DCB_CMD_IEEE_GET (linux/dcbnl.h); behind dcbmsg. Priorities with PFC: "none", "3", "3,4". Traffic classes of the
/// eight priorities: "0,0,0,1,0,0,0,0", and how each is scheduled: "strict", "cbs", "vendor" or its share ("50%").
/// Priorities of DSCP values (IEEE_APP, selector DSCP): "none", "0-7=0 26=3", or, where that is too long, one letter
/// for each of the 64 values, "-" for none.
void parse_dcb_facts(netlink::Bytes attributes, std::vector<FactValue>& facts);

}  // namespace weft::ethernet
