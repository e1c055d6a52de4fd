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
  std::uint8_t octets = 1;  // multiplier to the catalogue's unit: data counters are in words of four octets
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

void* bytes(ConstMadBytes mad) {
  return const_cast<std::uint8_t*>(mad.data());
}

// A field of the tables above with its place in the datagram learned.
struct Place {
  CounterId counter;
  std::uint8_t octets;
  FieldReader reader;
};

void store(const Place& from, unsigned instance, ConstMadBytes mad, SampleTable& table, PortIndex row) {
  const std::uint64_t value = from.reader.read(mad);
  // A count so high that octets do not fit is one that saturated, or never happens.
  const bool fits = from.octets == 1 || value <= ~0ULL / 4;
  table.set(row, table.column(from.counter, instance), fits ? value * from.octets : ~0ULL, value == from.reader.top());
}

Place learn(const FieldOf& from, unsigned instance = 0) {
  return {from.counter, from.octets,
          FieldReader(static_cast<int>(from.field) + static_cast<int>(instance), IB_PC_DATA_OFFS, from.bits)};
}

template <std::size_t N>
std::vector<Place> learn_all(const std::array<FieldOf, N>& fields) {
  std::vector<Place> places;
  for (const FieldOf& field : fields) places.push_back(learn(field));
  return places;
}

const std::vector<Place> kNarrowErrorPlaces = learn_all(kNarrowErrors);
const std::vector<Place> kNarrowTrafficPlaces = learn_all(kNarrowTraffic);
const std::vector<Place> kWideTrafficPlaces = learn_all(kWideTraffic);
const std::vector<Place> kWideIetfPlaces = learn_all(kWideIetf);
const std::vector<Place> kWideErrorPlaces = learn_all(kWideErrors);
const Place kTransmitWaitPlace = learn({kTransmitWait, IB_PC_XMT_WAIT_F, 32});
const Place kQp1DroppedPlace = learn({kQp1Dropped, IB_PC_QP1_DROP_F, 16});

void store_all(const std::vector<Place>& places, ConstMadBytes mad, SampleTable& table, PortIndex row) {
  for (const Place& place : places) store(place, 0, mad, table, row);
}

// Details are read seldom: their places are looked up each time.
void store(const FieldOf& from, unsigned instance, ConstMadBytes mad, SampleTable& table, PortIndex row) {
  store(learn(from, instance), instance, mad, table, row);
}

template <std::size_t N>
void store_all(const std::array<FieldOf, N>& fields, ConstMadBytes mad, SampleTable& table, PortIndex row) {
  for (const FieldOf& from : fields) store(from, 0, mad, table, row);
}

void store_instances(const FieldOf& from, ConstMadBytes mad, SampleTable& table, PortIndex row) {
  for (unsigned i = 0; i < counter_info(from.counter).instances; ++i) store(from, i, mad, table, row);
}

}  // namespace

PerformanceAgentInfo decode_performance_class_port_info(ConstMadBytes mad) {
  const auto get = [mad](MAD_FIELDS which) { return mad_get_field(bytes(mad), IB_PC_DATA_OFFS, which); };
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
  return static_cast<std::uint8_t>(mad_get_field(bytes(mad), IB_PC_DATA_OFFS, IB_PSC_TICK_F));
}

double wait_tick_seconds(std::optional<std::uint8_t> tick, int lanes, double bits_per_second) {
  if (bits_per_second <= 0 || lanes <= 0) return 0;
  const bool counts_by_lane = tick.value_or(7) >= 31;
  const double octets = (tick.value_or(7) + 1.0) * (counts_by_lane ? lanes : 1);
  return octets * 8 / bits_per_second;
}

void decode_port_counters(ConstMadBytes mad, const PerformanceAgentInfo& agent, SampleTable& table, PortIndex row) {
  store_all(kNarrowErrorPlaces, mad, table, row);
  if (!agent.has_extended()) store_all(kNarrowTrafficPlaces, mad, table, row);
  if (agent.capability_mask & PerformanceAgentInfo::kTransmitWait) store(kTransmitWaitPlace, 0, mad, table, row);
  if (agent.capability_mask & PerformanceAgentInfo::kQp1Drop) store(kQp1DroppedPlace, 0, mad, table, row);
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
      store_all(kReceiveErrorDetails, mad, table, row);
      return true;
    case attribute::kPortXmitDiscardDetails:
      store_all(kTransmitDiscardDetails, mad, table, row);
      return true;
    case attribute::kPortFlowCtlCounters:
      store_all(kFlowControl, mad, table, row);
      return true;
    case attribute::kPortVlXmitWaitCounters:
      store_instances({kVirtualLaneTransmitWait, IB_PC_PORT_VL_XMIT_WAIT0_F, 16}, mad, table, row);
      return true;
    case attribute::kPortExtendedSpeedsCounters:
      if (rs_fec_active) {
        store(FieldOf{kSyncHeaderErrors, IB_PESC_RSFEC_SYNC_HDR_ERR_CTR_F, 16}, 0, mad, table, row);
        store(FieldOf{kUnknownBlocks, IB_PESC_RSFEC_UNK_BLOCK_CTR_F, 16}, 0, mad, table, row);
        store_instances({kRsFecCorrectedSymbols, IB_PESC_RSFEC_FEC_CORR_SYMBOL_CTR_LANE0_F, 32}, mad, table, row);
        store(FieldOf{kRsFecCorrectableBlocks, IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F, 32}, 0, mad, table, row);
        store(FieldOf{kRsFecUncorrectableBlocks, IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F, 32}, 0, mad, table, row);
      } else {
        store(FieldOf{kSyncHeaderErrors, IB_PESC_SYNC_HDR_ERR_CTR_F, 16}, 0, mad, table, row);
        store(FieldOf{kUnknownBlocks, IB_PESC_UNK_BLOCK_CTR_F, 16}, 0, mad, table, row);
        store_instances({kLaneErrorsDetected, IB_PESC_ERR_DET_CTR_LANE0_F, 16}, mad, table, row);
        store_instances({kFecCorrectableBlocks, IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F, 32}, mad, table, row);
        store_instances({kFecUncorrectableBlocks, IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F, 32}, mad, table, row);
      }
      return true;
    default:
      return false;
  }
}

bool decode_rs_fec_active(ConstMadBytes mad) {
  // FECModeActive: 0 none, 1 FireCode, 2 RS-FEC, 3 low-latency RS-FEC, 4 RS(544,514) (14.2.5.19).
  const std::uint32_t mode = mad_get_field(bytes(mad), IB_SMP_DATA_OFFS, IB_PORT_EXT_FEC_MODE_ACTIVE_F) & 0xFFFF;
  return mode >= 2 && mode <= 4;
}

}  // namespace weft::infiniband
