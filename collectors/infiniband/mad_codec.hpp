// SPDX-License-Identifier: Apache-2.0
#pragma once
// Management datagrams as bytes: requests written, replies checked and read. Pure functions; field places and widths
// come from libibmad. Clauses are of the InfiniBand Architecture Specification, volume 1.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fabric/routes.hpp"
#include "fabric/sweep.hpp"
#include "fabric/topology.hpp"

namespace weft::infiniband {

inline constexpr std::size_t kMadSize = 256;  ///< 13.4.2
/// The bytes of a datagram to be written.
using MadBytes = std::span<std::uint8_t, kMadSize>;
/// The bytes of a datagram to be read.
using ConstMadBytes = std::span<const std::uint8_t, kMadSize>;
/// For libibmad's readers, which take void* although they only read.
inline void* mad_bytes(ConstMadBytes mad) {
  return const_cast<std::uint8_t*>(mad.data());
}

/// MgmtClass (13.4.4).
enum class MadClass : std::uint8_t {
  kSubnetLidRouted = 0x01,
  kSubnetAdministration = 0x03,
  kPerformance = 0x04,
  kSubnetDirectedRoute = 0x81,
};

/// AttributeID; the meaning depends on the class (14.2.5, 15.2.5, 16.1.3).
namespace attribute {
inline constexpr std::uint16_t kClassPortInfo = 0x0001;
inline constexpr std::uint16_t kNodeDescription = 0x0010;
inline constexpr std::uint16_t kNodeInfo = 0x0011;
inline constexpr std::uint16_t kSwitchInfo = 0x0012;
inline constexpr std::uint16_t kPortInfo = 0x0015;
inline constexpr std::uint16_t kLinearForwardingTable = 0x0019;
inline constexpr std::uint16_t kServiceRecord = 0x0031;
inline constexpr std::uint16_t kPathRecord = 0x0035;
inline constexpr std::uint16_t kPortSamplesControl = 0x0010;
inline constexpr std::uint16_t kPortCounters = 0x0012;
inline constexpr std::uint16_t kPortRcvErrorDetails = 0x0015;
inline constexpr std::uint16_t kPortXmitDiscardDetails = 0x0016;
inline constexpr std::uint16_t kPortFlowCtlCounters = 0x0018;
inline constexpr std::uint16_t kPortVlXmitWaitCounters = 0x001C;
inline constexpr std::uint16_t kPortCountersExtended = 0x001D;
inline constexpr std::uint16_t kPortExtendedSpeedsCounters = 0x001F;
inline constexpr std::uint16_t kPortInfoExtended = 0x0033;
inline constexpr std::uint16_t kVendorPortInfo = 0xFF90;  ///< Mellanox's own: ExtendedPortInfo
}  // namespace attribute

/// Ports to leave by, hop after hop (14.2.2). ports[0] is not used, as in the datagram's InitialPath.
struct DirectedRoute {
  static constexpr std::size_t kMaximumHops = 63;
  std::uint8_t hops = 0;
  std::array<std::uint8_t, kMaximumHops + 1> ports{};

  /// This route and one hop more; nullopt when it would be too long for a datagram, or `exit` beyond
  /// kMostSubnetPorts.
  std::optional<DirectedRoute> then(PortNum exit) const;
};

/// Writes a SubnGet. `route` null: LID routed; else directed route from and to the permissive LID.
void encode_subnet_get(MadBytes mad, std::uint16_t attribute, std::uint32_t modifier, const DirectedRoute* route);
/// The M_Key that a request to subnet management carries in its header (14.2.1, 14.2.4).
void set_management_key(MadBytes mad, std::uint64_t key);
/// Writes a PerformanceGet with PortSelect = `port`, kMostSubnetPorts at most.
void encode_performance_get(MadBytes mad, std::uint16_t attribute, PortNum port);
/// Writes a PerformanceSet(PortCounters) that clears the counters of `counter_select` (16.1.3.5) on `port`.
void encode_performance_clear(MadBytes mad, PortNum port, std::uint16_t counter_select);
/// Writes a SubnAdmGet(PathRecord) for one path from `source` to `destination` (15.2.5.16).
void encode_path_record_get(MadBytes mad, Lid source, Lid destination);

/// ServiceRecord (15.2.5.14), as far as Weft uses it. ServiceKey is 0.
struct ServiceRecord {
  static constexpr std::size_t kLongestName = 64;  ///< bytes of ServiceName
  static constexpr std::size_t kLongestData = 16;  ///< bytes of ServiceData8

  std::uint64_t service_id = 0;
  std::uint64_t subnet_prefix = 0;  ///< high half of ServiceGID
  PortGuid port;                    ///< low half of ServiceGID
  std::uint16_t pkey = 0;
  std::uint32_t lease = 0;   ///< seconds; 0xFFFFFFFF: for ever
  std::string name{};        ///< ServiceName up to the first zero byte, at most kLongestName bytes
  std::string data{};        ///< ServiceData8 up to the first zero byte, at most kLongestData bytes
  std::uint32_t data32 = 0;  ///< ServiceData32.1
  std::uint64_t data64 = 0;  ///< ServiceData64.1
};
/// Writes a SubnAdmSet that makes or renews the record. What is too long is cut.
void encode_service_record_set(MadBytes mad, const ServiceRecord& record);
/// Writes a SubnAdmDelete of the record with that ServiceID, ServiceGID and ServiceP_Key.
void encode_service_record_delete(MadBytes mad, const ServiceRecord& record);
/// Writes a SubnAdmGet of the one record of that name whose ServiceData8 begins with `data`.
void encode_service_record_get(MadBytes mad, std::string_view name, std::string_view data);
/// Reads a reply of the subnet administrator. The texts are bytes as they came.
ServiceRecord decode_service_record(ConstMadBytes mad);
/// Own status of the subnet administrator: the high byte of the reply's (15.4.2).
enum class AdministratorStatus : std::uint8_t { kNoRecords = 3, kTooManyRecords = 4 };
/// The reply's status is that one.
bool has_status(ConstMadBytes mad, AdministratorStatus status);

/// The low half of TransactionID: the high half belongs to the kernel (drivers/infiniband/core/user_mad.c).
void set_transaction(MadBytes mad, std::uint32_t transaction);
/// The low half of TransactionID.
std::uint32_t transaction_of(ConstMadBytes mad);

/// Status without the direction bit that directed-route replies carry (13.4.7, 14.2.1.2).
std::uint16_t status_of(ConstMadBytes mad);

/// Is `mad`, of which `length` bytes arrived, the reply to a Get, Set or Delete of that class and attribute? kOk when
/// it is and its status is 0; kUnsupported for status "method or attribute not supported"; kBadStatus for others; else
/// kMalformed.
MadResult check_reply(ConstMadBytes mad, std::size_t length, MadClass mad_class, std::uint16_t attribute);

/// NodeInfo (14.2.5.3).
struct NodeInfo {
  NodeType type = NodeType::kUnknown;
  std::uint8_t port_count = 0;
  std::uint8_t local_port = 0;  ///< the port the request came in by
  std::uint16_t device_id = 0;
  std::uint32_t vendor_id = 0;
  std::uint64_t system_image_guid = 0;
  NodeGuid guid;
  PortGuid port_guid;
};
/// nullopt when the reply contradicts itself: no GUID, an unknown node type, a port number beyond port_count or 254
/// ports.
std::optional<NodeInfo> decode_node_info(ConstMadBytes mad);

/// NodeDescription (14.2.5.2): 64 bytes as they came; see to_valid_utf8 for people.
std::span<const std::uint8_t> decode_node_description(ConstMadBytes mad);

/// SwitchInfo (14.2.5.4).
struct SwitchInfo {
  bool enhanced_port0 = false;     ///< port 0 has counters and a link of its own
  bool port_state_change = false;  ///< a port changed its state, and the subnet manager has not seen to it yet
  Lid linear_top;                  ///< LinearFDBTop: the highest LID that the linear forwarding table forwards
};
/// Reads a reply to a Get of SwitchInfo.
SwitchInfo decode_switch_info(ConstMadBytes mad);

/// LinearForwardingTable (14.2.5.10): the egress ports of 64 LIDs.
std::span<const std::uint8_t, kRouteBlockSize> decode_forwarding_block(ConstMadBytes mad);

/// CapabilityMask and CapabilityMask2 of PortInfo (14.2.5.6). Of a switch only port 0's mean anything, and they stand
/// for all of its ports.
struct PortCapabilities {
  static constexpr std::uint32_t kIsSubnetManager = 1U << 1;
  static constexpr std::uint32_t kExtendedSpeeds = 1U << 14;
  static constexpr std::uint32_t kHasMask2 = 1U << 15;
  static constexpr std::uint16_t kExtendedSpeeds2 = 0x0800;  ///< of mask2: rdma-core's libibmad/iba_types.h

  std::uint32_t mask = 0;
  std::uint16_t mask2 = 0;  ///< as read: meaningless without kHasMask2

  /// LinkSpeedExt* mean something.
  bool has_extended_speeds() const { return mask & kExtendedSpeeds; }
  /// LinkSpeedExt*2 mean something; only ever together with LinkSpeedExt*.
  bool has_extended_speeds2() const {
    return has_extended_speeds() && (mask & kHasMask2) && (mask2 & kExtendedSpeeds2);
  }
};

/// PortInfo (14.2.5.6). Widths and speeds of a port that is not physically up are zero: they mean nothing there.
struct PortInfo {
  PortState state = PortState::kUnknown;
  PortPhysicalState physical_state = PortPhysicalState::kUnknown;
  Lid lid;
  Lid subnet_manager_lid;
  std::uint8_t subnet_manager_sl = 0;
  std::uint8_t lid_mask_control = 0;
  PortCapabilities capabilities;
  WidthMask width_active = 0, width_enabled = 0, width_supported = 0;
  SpeedMask speed_active = 0, speed_enabled = 0, speed_supported = 0;

  /// The cable works: physical state LinkUp, and at least Initialize.
  bool is_link_up() const { return physical_state == PortPhysicalState::kLinkUp && state >= PortState::kInitialize; }
};
/// `capabilities`: of the port itself, or of port 0 for a switch's external ports; they say which speed fields mean
/// anything. nullopt: take the reply's own.
PortInfo decode_port_info(ConstMadBytes mad, const std::optional<PortCapabilities>& capabilities);
/// Whether a PortInfo, of port 0 or of an adapter's port, shows that its node has another M_Key than `key`, which the
/// request carried. Never so for key 0, and where nothing is protected (M_KeyProtectBits, 14.2.4.1).
bool has_other_management_key(ConstMadBytes mad, std::uint64_t key);

/// ExtendedPortInfo, an attribute of Mellanox's: FDR10, which PortInfo shows as QDR (rdma-core, libibmad/fields.c).
struct VendorPortInfo {
  SpeedMask speed_active = 0, speed_enabled = 0, speed_supported = 0;  ///< kSpeedFdr10 or 0
};
/// Reads a reply to a Get of ExtendedPortInfo.
VendorPortInfo decode_vendor_port_info(ConstMadBytes mad);
/// Whether nodes of that make know ExtendedPortInfo: the device ids that libibnetdisc asks (ibnetdisc.c), of the vendor
/// Mellanox only.
bool has_vendor_port_info(std::uint32_t vendor_id, std::uint16_t device_id);

/// Service level of a PathRecord reply (15.2.5.16).
std::uint8_t decode_path_record_sl(ConstMadBytes mad);

}  // namespace weft::infiniband
