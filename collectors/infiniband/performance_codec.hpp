// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replies of a performance management agent (chapter 16) turned into readings: the one place where units change.

#include <cstdint>

#include "collectors/infiniband/mad_codec.hpp"
#include "fabric/samples.hpp"

namespace weft::infiniband {

/// PerformanceClassPortInfo (13.4.8.1, 16.1.3.1).
struct PerformanceAgentInfo {
  static constexpr std::uint16_t kAllPortSelect = 0x0100;
  static constexpr std::uint16_t kExtendedWidth = 0x0200;
  static constexpr std::uint16_t kExtendedWidthNoIetf = 0x0400;
  static constexpr std::uint16_t kSamplesOnly = 0x0800;
  static constexpr std::uint16_t kTransmitWait = 0x1000;
  static constexpr std::uint16_t kRsFecCounters = 0x4000;
  static constexpr std::uint16_t kQp1Drop = 0x8000;
  static constexpr std::uint32_t kWideErrorCounters = 1U << 1;  ///< CapabilityMask2: 64-bit error counters

  std::uint16_t capability_mask = 0;
  std::uint32_t capability_mask2 = 0;  ///< 27 bits
  Lid redirect_lid;                    ///< unicast: ask there instead
  std::uint32_t redirect_qpn = 1;
  std::uint32_t redirect_qkey = 0;
  std::uint8_t redirect_sl = 0;
  std::uint16_t redirect_pkey = 0;

  /// The agent has PortCountersExtended, with or without multicast and unicast counters.
  bool has_extended() const { return capability_mask & (kExtendedWidth | kExtendedWidthNoIetf); }
  /// The agent has 64-bit error counters in PortCountersExtended.
  bool has_wide_errors() const { return has_extended() && (capability_mask2 & kWideErrorCounters); }
};
/// Reads a reply to a Get of ClassPortInfo.
PerformanceAgentInfo decode_performance_class_port_info(ConstMadBytes mad);

/// PortSamplesControl.Tick (16.1.3.2).
std::uint8_t decode_samples_tick(ConstMadBytes mad);

/// Length in seconds of one transmit-wait tick. Devices from Quantum on count (tick + 1) bytes a port, Switch-IB and
/// older (tick + 1) bytes a lane; `tick` nullopt (no PortSamplesControl): 7 for the former, 31 for the latter. 0 when
/// the rate is 0.
double wait_tick_seconds(std::optional<std::uint8_t> tick, int lanes, double bits_per_second);

/// PortCounters (16.1.3.5). `wide`: PortCountersExtended is read too, so only what it lacks is taken from here.
/// A counter at all ones of its width is marked saturated.
void decode_port_counters(ConstMadBytes mad, const PerformanceAgentInfo& agent, SampleTable& table, PortIndex row);
/// PortCountersExtended (16.1.4.11), the 64-bit error counters included where the agent has them.
void decode_port_counters_extended(ConstMadBytes mad, const PerformanceAgentInfo& agent, SampleTable& table,
                                   PortIndex row);

/// The optional attributes that go into the detail table; false when `attribute` is none of them.
bool decode_detail(std::uint16_t attribute, ConstMadBytes mad, bool rs_fec_active, SampleTable& table, PortIndex row);

/// Does PortInfoExtended (14.2.5.19) say that a Reed-Solomon mode is active, with or without retransmission (PLR)?
bool decode_rs_fec_active(ConstMadBytes mad);

}  // namespace weft::infiniband
