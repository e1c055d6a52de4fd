// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/dcb_message.hpp"

#include <linux/dcbnl.h>

#include <cstring>

namespace weft::ethernet {

void parse_dcb_pfc(netlink::Bytes attributes, Figures& figures) {
  const auto ieee = netlink::find_attribute(attributes, DCB_ATTR_IEEE);
  const auto attribute = ieee ? netlink::find_attribute(ieee->payload, DCB_ATTR_IEEE_PFC) : std::nullopt;
  if (!attribute || attribute->payload.size() < sizeof(ieee_pfc)) return;
  ieee_pfc pfc;
  std::memcpy(&pfc, attribute->payload.data(), sizeof(pfc));
  for (std::uint8_t priority = 0; priority < IEEE_8021QAZ_MAX_TCS; ++priority) {
    // "requests" are the frames that we sent to ask for a pause, "indications" those that we got.
    figures.push_back({.name = "pfc_frames",
                       .direction = Direction::kTransmit,
                       .priority = priority,
                       .value = pfc.requests[priority]});
    figures.push_back({.name = "pfc_frames",
                       .direction = Direction::kReceive,
                       .priority = priority,
                       .value = pfc.indications[priority]});
    figures.push_back({.name = "pfc_enabled",
                       .priority = priority,
                       .is_gauge = true,
                       .value = static_cast<std::uint64_t>(pfc.pfc_en >> priority & 1)});
  }
}

}  // namespace weft::ethernet
