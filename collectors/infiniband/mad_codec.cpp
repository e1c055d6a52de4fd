// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/mad_codec.hpp"

#include <infiniband/mad.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "collectors/infiniband/field_reader.hpp"

namespace weft::infiniband {
namespace {

std::uint32_t field(ConstMadBytes mad, int base, MAD_FIELDS which) {
  return mad_get_field(mad_bytes(mad), base, which);
}
std::uint64_t field64(ConstMadBytes mad, int base, MAD_FIELDS which) {
  return mad_get_field64(mad_bytes(mad), base, which);
}

// The common header of 13.4.3, byte by byte: this is written some hundred thousand times a second.
void encode_header(MadBytes mad, MadClass mad_class, std::uint8_t class_version, std::uint8_t method,
                   std::uint16_t attribute, std::uint32_t modifier) {
  std::memset(mad.data(), 0, mad.size());
  mad[0] = 1;  // base version
  mad[1] = static_cast<std::uint8_t>(mad_class);
  mad[2] = class_version;
  mad[3] = method;
  mad[16] = static_cast<std::uint8_t>(attribute >> 8);
  mad[17] = static_cast<std::uint8_t>(attribute);
  for (std::size_t i = 0; i < 4; ++i) mad[20 + i] = static_cast<std::uint8_t>(modifier >> (24 - 8 * i));
}

void put_number(MadBytes mad, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) mad[at + i] = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
}
std::uint64_t get_number(ConstMadBytes mad, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | mad[at + i];
  return value;
}
void put_text(MadBytes mad, std::size_t at, std::string_view text, std::size_t longest) {
  std::ranges::copy(text.substr(0, longest), mad.begin() + static_cast<std::ptrdiff_t>(at));
}
std::string get_text(ConstMadBytes mad, std::size_t at, std::size_t longest) {
  const auto bytes = mad.subspan(at, longest);
  return {bytes.begin(), std::ranges::find(bytes, std::uint8_t{0})};
}

constexpr std::uint8_t kSubnAdmDelete = 0x15, kSubnAdmDeleteResponse = 0x95;  // 15.2.2
constexpr std::size_t kComponentMask = 48;                                    // 15.2.1.1

// Places in the datagram and bits of the component mask (15.2.5.14; libibmad has none of them).
struct ServicePlaces {
  static constexpr std::size_t kId = IB_SA_DATA_OFFS, kGid = kId + 8, kPkey = kId + 24, kLease = kId + 28,
                               kName = kId + 48, kData = kId + 112, kData32 = kId + 144, kData64 = kId + 160,
                               kEnd = kId + 176;
  static constexpr std::uint64_t kKeyMask = 0b111;  // ServiceID, ServiceGID, ServiceP_Key
  static constexpr std::uint64_t kLeaseMask = 1U << 4, kNameMask = 1U << 6, kNumbersMask = 1ULL << 31 | 1ULL << 35;
  // The first so many elements of ServiceData8.
  static constexpr std::uint64_t data_mask(std::size_t elements) { return ((1ULL << elements) - 1) << 7; }
};

void put_service_key(MadBytes mad, const ServiceRecord& record) {
  put_number(mad, ServicePlaces::kId, record.service_id, 8);
  put_number(mad, ServicePlaces::kGid, record.subnet_prefix, 8);
  put_number(mad, ServicePlaces::kGid + 8, record.port.value, 8);
  put_number(mad, ServicePlaces::kPkey, record.pkey, 2);
}

// PortInfo is read for every port in every sweep.
struct PortInfoPlaces {
  FieldReader state = place(IB_PORT_STATE_F, 4);
  FieldReader physical_state = place(IB_PORT_PHYS_STATE_F, 4);
  FieldReader lid = place(IB_PORT_LID_F, 16);
  FieldReader subnet_manager_lid = place(IB_PORT_SMLID_F, 16);
  FieldReader subnet_manager_sl = place(IB_PORT_SMSL_F, 4);
  FieldReader lid_mask_control = place(IB_PORT_LMC_F, 3);
  FieldReader capability_mask = place(IB_PORT_CAPMASK_F, 32);
  FieldReader width_active = place(IB_PORT_LINK_WIDTH_ACTIVE_F, 8);
  FieldReader width_enabled = place(IB_PORT_LINK_WIDTH_ENABLED_F, 8);
  FieldReader width_supported = place(IB_PORT_LINK_WIDTH_SUPPORTED_F, 8);
  FieldReader speed_active = place(IB_PORT_LINK_SPEED_ACTIVE_F, 4);
  FieldReader speed_enabled = place(IB_PORT_LINK_SPEED_ENABLED_F, 4);
  FieldReader speed_supported = place(IB_PORT_LINK_SPEED_SUPPORTED_F, 4);
  FieldReader extended_active = place(IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 4);
  FieldReader extended_enabled = place(IB_PORT_LINK_SPEED_EXT_ENABLED_F, 5);
  FieldReader extended_supported = place(IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, 4);
  FieldReader capability_mask2 = place(IB_PORT_CAPMASK2_F, 16);

  static FieldReader place(MAD_FIELDS field, int bits) { return FieldReader(field, IB_SMP_DATA_OFFS, bits); }
};
const PortInfoPlaces kPortInfo;

// LinkSpeed* has SDR, DDR, QDR in its low three bits; 0 as active, and 8 upwards, are reserved (14.2.5.6).
SpeedMask base_speeds(std::uint32_t bits) {
  return static_cast<SpeedMask>(bits & 0x7);
}
// LinkSpeedExt*: FDR, EDR, HDR, NDR from bit 0; they start at kSpeedFdr here.
SpeedMask extended_speeds(std::uint32_t bits) {
  return static_cast<SpeedMask>((bits & 0xF) << 4);
}
// LinkSpeedExt*2: bit 0 is XDR, the only one defined (rdma-core 0538e6de8, libibmad/dump.c).
SpeedMask extended_speeds2(unsigned bits) {
  return bits & 1 ? kSpeedXdr : SpeedMask{0};
}
// LinkSpeedExtActive2 has bits 449 and 450 of PortInfo, Supported2 451 and 452, Enabled2 453 to 455: one byte
// (rdma-core 0538e6de8, libibmad/fields.c). Debian 12's libibmad does not know them.
constexpr std::size_t kExtendedSpeeds2 = IB_SMP_DATA_OFFS + 56;

}  // namespace

std::optional<DirectedRoute> DirectedRoute::then(PortNum exit) const {
  if (hops >= kMaximumHops || exit.value > kMostSubnetPorts) return std::nullopt;
  DirectedRoute longer = *this;
  longer.ports[++longer.hops] = static_cast<std::uint8_t>(exit.value);
  return longer;
}

void encode_subnet_get(MadBytes mad, std::uint16_t attribute, std::uint32_t modifier, const DirectedRoute* route) {
  if (!route) {
    encode_header(mad, MadClass::kSubnetLidRouted, 1, IB_MAD_METHOD_GET, attribute, modifier);
    return;
  }
  encode_header(mad, MadClass::kSubnetDirectedRoute, 1, IB_MAD_METHOD_GET, attribute, modifier);
  mad_set_field(mad.data(), 0, IB_DRSMP_HOPCNT_F, route->hops);
  mad_set_field(mad.data(), 0, IB_DRSMP_DRSLID_F, 0xFFFF);
  mad_set_field(mad.data(), 0, IB_DRSMP_DRDLID_F, 0xFFFF);
  mad_set_array(mad.data(), 0, IB_DRSMP_PATH_F, const_cast<std::uint8_t*>(route->ports.data()));
}

void set_management_key(MadBytes mad, std::uint64_t key) {
  mad_set_field64(mad.data(), 0, IB_MAD_MKEY_F, key);
}

void encode_performance_get(MadBytes mad, std::uint16_t attribute, PortNum port) {
  encode_header(mad, MadClass::kPerformance, 1, IB_MAD_METHOD_GET, attribute, 0);
  mad[IB_PC_DATA_OFFS + 1] = static_cast<std::uint8_t>(port.value);  // PortSelect is the second byte of all of these
  // All parts of the extended speeds attribute; the others ignore the field in a Get (16.1.4.12).
  if (attribute == attribute::kPortExtendedSpeedsCounters)
    mad_set_field64(mad.data(), IB_PC_DATA_OFFS, IB_PESC_COUNTER_SELECT_F, ~0ULL);
}

void encode_performance_clear(MadBytes mad, PortNum port, std::uint16_t counter_select) {
  encode_header(mad, MadClass::kPerformance, 1, IB_MAD_METHOD_SET, attribute::kPortCounters, 0);
  mad_set_field(mad.data(), IB_PC_DATA_OFFS, IB_PC_PORT_SELECT_F, port.value);
  mad_set_field(mad.data(), IB_PC_DATA_OFFS, IB_PC_COUNTER_SELECT_F, counter_select);
}

void encode_path_record_get(MadBytes mad, Lid source, Lid destination) {
  constexpr std::uint64_t kDlid = 1ULL << 4, kSlid = 1ULL << 5, kNumberOfPaths = 1ULL << 12;  // 15.2.5.16
  encode_header(mad, MadClass::kSubnetAdministration, 2, IB_MAD_METHOD_GET, attribute::kPathRecord, 0);
  mad_set_field64(mad.data(), 0, IB_SA_COMPMASK_F, kDlid | kSlid | kNumberOfPaths);
  mad_set_field(mad.data(), IB_SA_DATA_OFFS, IB_SA_PR_DLID_F, destination.value);
  mad_set_field(mad.data(), IB_SA_DATA_OFFS, IB_SA_PR_SLID_F, source.value);
  mad_set_field(mad.data(), IB_SA_DATA_OFFS, IB_SA_PR_NPATH_F, 1);
}

void encode_service_record_set(MadBytes mad, const ServiceRecord& record) {
  encode_header(mad, MadClass::kSubnetAdministration, 2, IB_MAD_METHOD_SET, attribute::kServiceRecord, 0);
  put_number(mad, kComponentMask,
             ServicePlaces::kKeyMask | ServicePlaces::kLeaseMask | ServicePlaces::kNameMask |
                 ServicePlaces::data_mask(ServiceRecord::kLongestData) | ServicePlaces::kNumbersMask,
             8);
  put_service_key(mad, record);
  put_number(mad, ServicePlaces::kLease, record.lease, 4);
  put_text(mad, ServicePlaces::kName, record.name, ServiceRecord::kLongestName);
  put_text(mad, ServicePlaces::kData, record.data, ServiceRecord::kLongestData);
  put_number(mad, ServicePlaces::kData32, record.data32, 4);
  put_number(mad, ServicePlaces::kData64, record.data64, 8);
}

void encode_service_record_delete(MadBytes mad, const ServiceRecord& record) {
  encode_header(mad, MadClass::kSubnetAdministration, 2, kSubnAdmDelete, attribute::kServiceRecord, 0);
  put_number(mad, kComponentMask, ServicePlaces::kKeyMask, 8);
  put_service_key(mad, record);
}

void encode_service_record_get(MadBytes mad, std::string_view name, std::string_view data) {
  encode_header(mad, MadClass::kSubnetAdministration, 2, IB_MAD_METHOD_GET, attribute::kServiceRecord, 0);
  data = data.substr(0, ServiceRecord::kLongestData);
  put_number(mad, kComponentMask, ServicePlaces::kNameMask | ServicePlaces::data_mask(data.size()), 8);
  put_text(mad, ServicePlaces::kName, name, ServiceRecord::kLongestName);
  put_text(mad, ServicePlaces::kData, data, ServiceRecord::kLongestData);
}

ServiceRecord decode_service_record(ConstMadBytes mad) {
  ServiceRecord record;
  record.service_id = get_number(mad, ServicePlaces::kId, 8);
  record.subnet_prefix = get_number(mad, ServicePlaces::kGid, 8);
  record.port = {get_number(mad, ServicePlaces::kGid + 8, 8)};
  record.pkey = static_cast<std::uint16_t>(get_number(mad, ServicePlaces::kPkey, 2));
  record.lease = static_cast<std::uint32_t>(get_number(mad, ServicePlaces::kLease, 4));
  record.name = get_text(mad, ServicePlaces::kName, ServiceRecord::kLongestName);
  record.data = get_text(mad, ServicePlaces::kData, ServiceRecord::kLongestData);
  record.data32 = static_cast<std::uint32_t>(get_number(mad, ServicePlaces::kData32, 4));
  record.data64 = get_number(mad, ServicePlaces::kData64, 8);
  return record;
}

bool has_status(ConstMadBytes mad, AdministratorStatus status) {
  return (status_of(mad) & 0x7F00) >> 8 == static_cast<int>(status);
}

void set_transaction(MadBytes mad, std::uint32_t transaction) {
  for (std::size_t i = 0; i < 4; ++i) mad[12 + i] = static_cast<std::uint8_t>(transaction >> (24 - 8 * i));
}

std::uint32_t transaction_of(ConstMadBytes mad) {
  return static_cast<std::uint32_t>(mad[12]) << 24 | static_cast<std::uint32_t>(mad[13]) << 16 |
         static_cast<std::uint32_t>(mad[14]) << 8 | mad[15];
}

std::uint16_t status_of(ConstMadBytes mad) {
  return static_cast<std::uint16_t>((mad[4] << 8 | mad[5]) & 0x7FFF);
}

MadResult check_reply(ConstMadBytes mad, std::size_t length, MadClass mad_class, std::uint16_t attribute) {
  // Subnet administration may come without the bytes behind its record; a path record has 64 (15.2.5.16).
  const bool is_administration = mad_class == MadClass::kSubnetAdministration;
  const std::size_t record_end =
      attribute == attribute::kServiceRecord ? ServicePlaces::kEnd : IB_SA_DATA_OFFS + std::size_t{64};
  if (length < (is_administration ? record_end : kMadSize)) return MadResult::kMalformed;
  if (mad[0] != 1 || mad[1] != static_cast<std::uint8_t>(mad_class)) return MadResult::kMalformed;
  if (mad[3] != IB_MAD_METHOD_GET_RESPONSE && !(is_administration && mad[3] == kSubnAdmDeleteResponse))
    return MadResult::kMalformed;
  const std::uint16_t status = status_of(mad);
  const auto got = static_cast<std::uint16_t>(mad[16] << 8 | mad[17]);
  // A redirected performance agent answers with ClassPortInfo (13.4.8); its status says so.
  if (got != attribute && !(status & IB_MAD_STS_REDIRECT)) return MadResult::kMalformed;
  if (status == 0) return MadResult::kOk;
  const int code = status & 0x1C;
  if (code == IB_MAD_STS_METHOD_NOT_SUPPORTED || code == IB_MAD_STS_METHOD_ATTR_NOT_SUPPORTED)
    return MadResult::kUnsupported;
  return MadResult::kBadStatus;
}

std::optional<NodeInfo> decode_node_info(ConstMadBytes mad) {
  NodeInfo info;
  const std::uint32_t type = field(mad, IB_SMP_DATA_OFFS, IB_NODE_TYPE_F);
  if (type < 1 || type > 3) return std::nullopt;
  info.type = static_cast<NodeType>(type);
  const std::uint32_t port_count = field(mad, IB_SMP_DATA_OFFS, IB_NODE_NPORTS_F);
  const std::uint32_t local_port = field(mad, IB_SMP_DATA_OFFS, IB_NODE_LOCAL_PORT_F);
  if (port_count == 0 || port_count > kMostSubnetPorts || local_port > port_count) return std::nullopt;
  if (info.type != NodeType::kSwitch && local_port == 0) return std::nullopt;
  info.port_count = static_cast<std::uint8_t>(port_count);
  info.local_port = static_cast<std::uint8_t>(local_port);
  info.device_id = static_cast<std::uint16_t>(field(mad, IB_SMP_DATA_OFFS, IB_NODE_DEVID_F));
  info.vendor_id = field(mad, IB_SMP_DATA_OFFS, IB_NODE_VENDORID_F);
  info.system_image_guid = field64(mad, IB_SMP_DATA_OFFS, IB_NODE_SYSTEM_GUID_F);
  info.guid = {field64(mad, IB_SMP_DATA_OFFS, IB_NODE_GUID_F)};
  info.port_guid = {field64(mad, IB_SMP_DATA_OFFS, IB_NODE_PORT_GUID_F)};
  if (!info.guid) return std::nullopt;
  return info;
}

std::span<const std::uint8_t> decode_node_description(ConstMadBytes mad) {
  return mad.subspan(IB_SMP_DATA_OFFS, IB_SMP_DATA_SIZE);
}

SwitchInfo decode_switch_info(ConstMadBytes mad) {
  SwitchInfo info;
  info.enhanced_port0 = field(mad, IB_SMP_DATA_OFFS, IB_SW_ENHANCED_PORT0_F) != 0;
  info.port_state_change = field(mad, IB_SMP_DATA_OFFS, IB_SW_STATE_CHANGE_F) != 0;
  info.linear_top = {static_cast<std::uint16_t>(field(mad, IB_SMP_DATA_OFFS, IB_SW_LINEAR_FDB_TOP_F))};
  return info;
}

std::span<const std::uint8_t, kRouteBlockSize> decode_forwarding_block(ConstMadBytes mad) {
  return mad.subspan<IB_SMP_DATA_OFFS, kRouteBlockSize>();
}

PortInfo decode_port_info(ConstMadBytes mad, const std::optional<PortCapabilities>& capabilities) {
  const auto get = [mad](const FieldReader& place) { return static_cast<std::uint32_t>(place.read(mad)); };
  PortInfo info;
  const std::uint32_t state = get(kPortInfo.state);
  info.state = state <= 4 ? static_cast<PortState>(state) : PortState::kUnknown;
  const std::uint32_t physical = get(kPortInfo.physical_state);
  info.physical_state = physical <= 7 ? static_cast<PortPhysicalState>(physical) : PortPhysicalState::kUnknown;
  info.lid = {static_cast<std::uint16_t>(get(kPortInfo.lid))};
  info.subnet_manager_lid = {static_cast<std::uint16_t>(get(kPortInfo.subnet_manager_lid))};
  info.subnet_manager_sl = static_cast<std::uint8_t>(get(kPortInfo.subnet_manager_sl));
  info.lid_mask_control = static_cast<std::uint8_t>(get(kPortInfo.lid_mask_control));
  info.capabilities.mask = get(kPortInfo.capability_mask);
  info.capabilities.mask2 = static_cast<std::uint16_t>(get(kPortInfo.capability_mask2));
  if (!info.is_link_up()) return info;

  info.width_active = static_cast<WidthMask>(get(kPortInfo.width_active));
  info.width_enabled = static_cast<WidthMask>(get(kPortInfo.width_enabled));
  info.width_supported = static_cast<WidthMask>(get(kPortInfo.width_supported));
  info.speed_active = base_speeds(get(kPortInfo.speed_active));
  info.speed_enabled = base_speeds(get(kPortInfo.speed_enabled));
  info.speed_supported = base_speeds(get(kPortInfo.speed_supported));
  const PortCapabilities known = capabilities.value_or(info.capabilities);
  if (known.has_extended_speeds()) {
    const SpeedMask active = extended_speeds(get(kPortInfo.extended_active));
    if (active) info.speed_active = active;  // an active extended speed replaces the base one
    // Enabled has a fifth bit that means "none enabled" together with 0x1E and 0x1F reserved: only four name speeds.
    info.speed_enabled |= extended_speeds(get(kPortInfo.extended_enabled));
    info.speed_supported |= extended_speeds(get(kPortInfo.extended_supported));
  }
  if (known.has_extended_speeds2()) {
    const unsigned speeds = mad[kExtendedSpeeds2];
    if (const SpeedMask active = extended_speeds2(speeds >> 5 & 3)) info.speed_active = active;
    info.speed_enabled |= extended_speeds2(speeds & 7);
    info.speed_supported |= extended_speeds2(speeds >> 3 & 3);
  }
  return info;
}

bool has_other_management_key(ConstMadBytes mad, std::uint64_t key) {
  // Protected, the key is shown to those alone who have it; others see 0.
  return key != 0 && field(mad, IB_SMP_DATA_OFFS, IB_PORT_MKEY_PROT_BITS_F) != 0 &&
         field64(mad, IB_SMP_DATA_OFFS, IB_PORT_MKEY_F) != key;
}

VendorPortInfo decode_vendor_port_info(ConstMadBytes mad) {
  // Bit 0 of each mask is FDR10, the only speed that is defined (rdma-core, libibmad/iba_types.h).
  const auto speed = [mad](MAD_FIELDS which) {
    return field(mad, IB_SMP_DATA_OFFS, which) & 1 ? kSpeedFdr10 : SpeedMask{0};
  };
  return {speed(IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F), speed(IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F),
          speed(IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F)};
}

bool has_vendor_port_info(std::uint32_t vendor_id, std::uint16_t device_id) {
  constexpr std::uint32_t kMellanox = 0x2c9;
  constexpr std::array<std::uint16_t, 6> kDevices{0xc839, 0xcb20, 0xcf08, 0xcf09, 0xd2f0, 0xa2d2};
  if (vendor_id != kMellanox) return false;
  return (device_id >= 0xc738 && device_id <= 0xc73b) || (device_id >= 0x1003 && device_id <= 0x101b) ||
         std::ranges::find(kDevices, device_id) != kDevices.end();
}

std::uint8_t decode_path_record_sl(ConstMadBytes mad) {
  return static_cast<std::uint8_t>(field(mad, IB_SA_DATA_OFFS, IB_SA_PR_SL_F) & 0xF);
}

}  // namespace weft::infiniband
