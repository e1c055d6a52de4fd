// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/performance_codec.hpp"

#include <infiniband/mad.h>

#include <array>
#include <vector>

#include "collectors/infiniband/field_reader.hpp"

namespace weft::infiniband {
namespace {

struct FieldOf {
  CounterId counter;
  MAD_FIELDS field;
  std::uint8_t bits;
  std::uint8_t bytes = 1;  // multiplier to the catalogue's unit: data counters are in words of four bytes
};

using enum CounterId;

// Always taken from PortCounters: no 64-bit form without CapabilityMask2 bit 1.
constexpr std::array kNarrowErrors{
    FieldOf{kSymbolErrors, IB_PC_ERR_SYM_F, 16},
    FieldOf{kLinkErrorRecovery, IB_PC_LINK_RECOVERS_F, 8},
    FieldOf{kLinkDowned, IB_PC_LINK_DOWNED_F, 8},
    FieldOf{kReceiveErrors, IB_PC_ERR_RCV_F, 16},
    FieldOf{kReceiveRemotePhysicalErrors, IB_PC_ERR_PHYSRCV_F, 16},
    FieldOf{kReceiveSwitchRelayErrors, IB_PC_ERR_SWITCH_REL_F, 16},
    FieldOf{kTransmitDiscards, IB_PC_XMT_DISCARDS_F, 16},
    FieldOf{kTransmitConstraintErrors, IB_PC_ERR_XMTCONSTR_F, 8},
    FieldOf{kReceiveConstraintErrors, IB_PC_ERR_RCVCONSTR_F, 8},
    FieldOf{kLocalLinkIntegrityErrors, IB_PC_ERR_LOCALINTEG_F, 4},
    FieldOf{kExcessiveBufferOverrunErrors, IB_PC_ERR_EXCESS_OVR_F, 4},
    FieldOf{kVl15Dropped, IB_PC_VL15_DROPPED_F, 16},
};
constexpr std::array kNarrowTraffic{
    FieldOf{kTransmitBytes, IB_PC_XMT_BYTES_F, 32, 4},
    FieldOf{kReceiveBytes, IB_PC_RCV_BYTES_F, 32, 4},
    FieldOf{kTransmitPackets, IB_PC_XMT_PKTS_F, 32},
    FieldOf{kReceivePackets, IB_PC_RCV_PKTS_F, 32},
};
constexpr std::array kWideTraffic{
    FieldOf{kTransmitBytes, IB_PC_EXT_XMT_BYTES_F, 64, 4},
    FieldOf{kReceiveBytes, IB_PC_EXT_RCV_BYTES_F, 64, 4},
    FieldOf{kTransmitPackets, IB_PC_EXT_XMT_PKTS_F, 64},
    FieldOf{kReceivePackets, IB_PC_EXT_RCV_PKTS_F, 64},
};
constexpr std::array kWideIetf{
    FieldOf{kUnicastTransmitPackets, IB_PC_EXT_XMT_UPKTS_F, 64},
    FieldOf{kUnicastReceivePackets, IB_PC_EXT_RCV_UPKTS_F, 64},
    FieldOf{kMulticastTransmitPackets, IB_PC_EXT_XMT_MPKTS_F, 64},
    FieldOf{kMulticastReceivePackets, IB_PC_EXT_RCV_MPKTS_F, 64},
};
constexpr std::array kWideErrors{
    FieldOf{kSymbolErrors, IB_PC_EXT_ERR_SYM_F, 64},
    FieldOf{kLinkErrorRecovery, IB_PC_EXT_LINK_RECOVERS_F, 64},
    FieldOf{kLinkDowned, IB_PC_EXT_LINK_DOWNED_F, 64},
    FieldOf{kReceiveErrors, IB_PC_EXT_ERR_RCV_F, 64},
    FieldOf{kReceiveRemotePhysicalErrors, IB_PC_EXT_ERR_PHYSRCV_F, 64},
    FieldOf{kReceiveSwitchRelayErrors, IB_PC_EXT_ERR_SWITCH_REL_F, 64},
    FieldOf{kTransmitDiscards, IB_PC_EXT_XMT_DISCARDS_F, 64},
    FieldOf{kTransmitConstraintErrors, IB_PC_EXT_ERR_XMTCONSTR_F, 64},
    FieldOf{kReceiveConstraintErrors, IB_PC_EXT_ERR_RCVCONSTR_F, 64},
    FieldOf{kLocalLinkIntegrityErrors, IB_PC_EXT_ERR_LOCALINTEG_F, 64},
    FieldOf{kExcessiveBufferOverrunErrors, IB_PC_EXT_ERR_EXCESS_OVR_F, 64},
    FieldOf{kVl15Dropped, IB_PC_EXT_VL15_DROPPED_F, 64},
    FieldOf{kTransmitWait, IB_PC_EXT_XMT_WAIT_F, 64},
    FieldOf{kQp1Dropped, IB_PC_EXT_QP1_DROP_F, 64},
};
constexpr std::array kReceiveErrorDetails{
    FieldOf{kLocalPhysicalErrors, IB_PC_RCV_LOCAL_PHY_ERR_F, 16},
    FieldOf{kMalformedPacketErrors, IB_PC_RCV_MALFORMED_PKT_ERR_F, 16},
    FieldOf{kBufferOverrunErrors, IB_PC_RCV_BUF_OVR_ERR_F, 16},
    FieldOf{kDlidMappingErrors, IB_PC_RCV_DLID_MAP_ERR_F, 16},
    FieldOf{kVlMappingErrors, IB_PC_RCV_VL_MAP_ERR_F, 16},
    FieldOf{kLoopingErrors, IB_PC_RCV_LOOPING_ERR_F, 16},
};
constexpr std::array kTransmitDiscardDetails{
    FieldOf{kInactiveDiscards, IB_PC_XMT_INACT_DISC_F, 16},
    FieldOf{kNeighborMtuDiscards, IB_PC_XMT_NEIGH_MTU_DISC_F, 16},
    FieldOf{kSwitchLifetimeDiscards, IB_PC_XMT_SW_LIFE_DISC_F, 16},
    FieldOf{kHeadOfQueueLifetimeDiscards, IB_PC_XMT_SW_HOL_DISC_F, 16},
};
constexpr std::array kFlowControl{
    FieldOf{kTransmitFlowControlPackets, IB_PC_PORT_XMIT_FLOW_PKTS_F, 32},
    FieldOf{kReceiveFlowControlPackets, IB_PC_PORT_RCV_FLOW_PKTS_F, 32},
};
constexpr std::array kVirtualLaneWaits{FieldOf{kVirtualLaneTransmitWait, IB_PC_PORT_VL_XMIT_WAIT0_F, 16}};
constexpr std::array kRsFec{
    FieldOf{kSyncHeaderErrors, IB_PESC_RSFEC_SYNC_HDR_ERR_CTR_F, 16},
    FieldOf{kUnknownBlocks, IB_PESC_RSFEC_UNK_BLOCK_CTR_F, 16},
    FieldOf{kRsFecCorrectedSymbols, IB_PESC_RSFEC_FEC_CORR_SYMBOL_CTR_LANE0_F, 32},
    FieldOf{kRsFecCorrectableBlocks, IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F, 32},
    FieldOf{kRsFecUncorrectableBlocks, IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F, 32},
};
constexpr std::array kPlainFec{
    FieldOf{kSyncHeaderErrors, IB_PESC_SYNC_HDR_ERR_CTR_F, 16},
    FieldOf{kUnknownBlocks, IB_PESC_UNK_BLOCK_CTR_F, 16},
    FieldOf{kLaneErrorsDetected, IB_PESC_ERR_DET_CTR_LANE0_F, 16},
    FieldOf{kFecCorrectableBlocks, IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F, 32},
    FieldOf{kFecUncorrectableBlocks, IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F, 32},
};

// One instance of a field of the tables above with its place in the datagram learned.
struct Place {
  CounterId counter;
  std::uint8_t instance;
  std::uint8_t bytes;
  FieldReader reader;
};

void store(const Place& from, ConstMadBytes mad, SampleTable& table, PortIndex row) {
  const std::uint64_t value = from.reader.read(mad);
  // A count so high that bytes do not fit is one that saturated, or never happens.
  const bool fits = from.bytes == 1 || value <= ~0ULL / 4;
  table.set(row, table.column(from.counter, from.instance), fits ? value * from.bytes : ~0ULL,
            value == from.reader.top());
}

// The fields of all lanes or virtual lanes follow each other, in libibmad's list and in the datagram.
template <std::size_t N>
std::vector<Place> learn(const std::array<FieldOf, N>& fields) {
  std::vector<Place> places;
  for (const FieldOf& field : fields)
    for (std::uint8_t i = 0; i < counter_info(field.counter).instances; ++i)
      places.push_back(
          {field.counter, i, field.bytes, FieldReader(static_cast<int>(field.field) + i, IB_PC_DATA_OFFS, field.bits)});
  return places;
}

const std::vector<Place> kNarrowErrorPlaces = learn(kNarrowErrors);
const std::vector<Place> kNarrowTrafficPlaces = learn(kNarrowTraffic);
const std::vector<Place> kWideTrafficPlaces = learn(kWideTraffic);
const std::vector<Place> kWideIetfPlaces = learn(kWideIetf);
const std::vector<Place> kWideErrorPlaces = learn(kWideErrors);
const std::vector<Place> kTransmitWaitPlace = learn(std::array{FieldOf{kTransmitWait, IB_PC_XMT_WAIT_F, 32}});
const std::vector<Place> kQp1DroppedPlace = learn(std::array{FieldOf{kQp1Dropped, IB_PC_QP1_DROP_F, 16}});
const std::vector<Place> kReceiveErrorDetailPlaces = learn(kReceiveErrorDetails);
const std::vector<Place> kTransmitDiscardDetailPlaces = learn(kTransmitDiscardDetails);
const std::vector<Place> kFlowControlPlaces = learn(kFlowControl);
const std::vector<Place> kVirtualLaneWaitPlaces = learn(kVirtualLaneWaits);
const std::vector<Place> kRsFecPlaces = learn(kRsFec);
const std::vector<Place> kPlainFecPlaces = learn(kPlainFec);

void store_all(const std::vector<Place>& places, ConstMadBytes mad, SampleTable& table, PortIndex row) {
  for (const Place& place : places) store(place, mad, table, row);
}

}  // namespace

PerformanceAgentInfo decode_performance_class_port_info(ConstMadBytes mad) {
  const auto get = [mad](MAD_FIELDS which) { return mad_get_field(mad_bytes(mad), IB_PC_DATA_OFFS, which); };
  PerformanceAgentInfo info;
  info.capability_mask = static_cast<std::uint16_t>(get(IB_CPI_CAPMASK_F));
  info.capability_mask2 = get(IB_CPI_CAPMASK2_F);
  info.redirect_lid = {static_cast<std::uint16_t>(get(IB_CPI_REDIRECT_LID_F))};
  info.redirect_qpn = get(IB_CPI_REDIRECT_QP_F);
  info.redirect_qkey = get(IB_CPI_REDIRECT_QKEY_F);
  info.redirect_sl = static_cast<std::uint8_t>(get(IB_CPI_REDIRECT_SL_F));
  info.redirect_pkey = static_cast<std::uint16_t>(get(IB_CPI_REDIRECT_PKEY_F));
  return info;
}

std::uint8_t decode_samples_tick(ConstMadBytes mad) {
  return static_cast<std::uint8_t>(mad_get_field(mad_bytes(mad), IB_PC_DATA_OFFS, IB_PSC_TICK_F));
}

double wait_tick_seconds(std::optional<std::uint8_t> tick, int lanes, double bits_per_second) {
  if (bits_per_second <= 0 || lanes <= 0) return 0;
  const bool counts_by_lane = tick.value_or(7) >= 31;
  const double bytes = (tick.value_or(7) + 1.0) * (counts_by_lane ? lanes : 1);
  return bytes * 8 / bits_per_second;
}

void decode_port_counters(ConstMadBytes mad, const PerformanceAgentInfo& agent, SampleTable& table, PortIndex row) {
  store_all(kNarrowErrorPlaces, mad, table, row);
  if (!agent.has_extended()) store_all(kNarrowTrafficPlaces, mad, table, row);
  if (agent.capability_mask & PerformanceAgentInfo::kTransmitWait) store_all(kTransmitWaitPlace, mad, table, row);
  if (agent.capability_mask & PerformanceAgentInfo::kQp1Drop) store_all(kQp1DroppedPlace, mad, table, row);
}

void decode_port_counters_extended(ConstMadBytes mad, const PerformanceAgentInfo& agent, SampleTable& table,
                                   PortIndex row) {
  store_all(kWideTrafficPlaces, mad, table, row);
  if (agent.capability_mask & PerformanceAgentInfo::kExtendedWidth) store_all(kWideIetfPlaces, mad, table, row);
  if (agent.has_wide_errors()) store_all(kWideErrorPlaces, mad, table, row);
}

bool decode_detail(std::uint16_t attribute, ConstMadBytes mad, bool rs_fec_active, SampleTable& table, PortIndex row) {
  switch (attribute) {
    case attribute::kPortRcvErrorDetails:
      store_all(kReceiveErrorDetailPlaces, mad, table, row);
      return true;
    case attribute::kPortXmitDiscardDetails:
      store_all(kTransmitDiscardDetailPlaces, mad, table, row);
      return true;
    case attribute::kPortFlowCtlCounters:
      store_all(kFlowControlPlaces, mad, table, row);
      return true;
    case attribute::kPortVlXmitWaitCounters:
      store_all(kVirtualLaneWaitPlaces, mad, table, row);
      return true;
    case attribute::kPortExtendedSpeedsCounters:
      store_all(rs_fec_active ? kRsFecPlaces : kPlainFecPlaces, mad, table, row);
      return true;
    default:
      return false;
  }
}

bool decode_rs_fec_active(ConstMadBytes mad) {
  // FECModeActive: 0 none, 1 FireCode, 2 RS-FEC, 3 low-latency RS-FEC, 4 RS(544,514) (14.2.5.19). NVIDIA's own: 8
  // strong, 9 low-latency, 10 adaptive RS, 11 COD, 12 zero-latency, which is none; 13 RS(544,514) and 14 RS(271,257),
  // both with retransmission at the physical layer (PLR). Values of IBFECMode in ibutils2's ibdm, Fabric.h.
  const std::uint32_t mode = mad_get_field(mad_bytes(mad), IB_SMP_DATA_OFFS, IB_PORT_EXT_FEC_MODE_ACTIVE_F) & 0xFFFF;
  return (mode >= 2 && mode <= 4) || (mode >= 8 && mode <= 11) || mode == 13 || mode == 14;
}

}  // namespace weft::infiniband
