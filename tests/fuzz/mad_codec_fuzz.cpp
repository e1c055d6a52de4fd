// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/mad_codec.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "collectors/infiniband/node_description.hpp"
#include "collectors/infiniband/performance_codec.hpp"
#include "fuzz.hpp"

namespace {

using namespace weft;
using namespace weft::infiniband;
using weft::fuzz::demand;

constexpr std::array kClasses{MadClass::kSubnetLidRouted, MadClass::kSubnetAdministration, MadClass::kPerformance,
                              MadClass::kSubnetDirectedRoute};

void read_subnet_reply(ConstMadBytes mad) {
  if (const std::optional<NodeInfo> info = decode_node_info(mad)) {
    demand(static_cast<bool>(info->guid), "a node has a GUID");
    demand(info->type != NodeType::kUnknown, "a node has a type");
    demand(info->port_count <= 254 && info->local_port <= info->port_count, "port numbers are in range");
  }
  const std::span<const std::uint8_t> description = decode_node_description(mad);
  demand(description.size() == 64, "a description has 64 bytes");
  const std::string name = to_valid_utf8(std::as_bytes(description));
  demand(to_valid_utf8(name) == name, "a name is fit for people");
  (void)decode_switch_info(mad);
  demand(decode_forwarding_block(mad).size() == kRouteBlockSize, "a block has 64 entries");
  using Capabilities = std::optional<PortCapabilities>;
  for (const Capabilities& capabilities :
       {Capabilities(), Capabilities({0, 0}), Capabilities({0xFFFFFFFF, 0}), Capabilities({0xFFFFFFFF, 0xFFFF})}) {
    const PortInfo info = decode_port_info(mad, capabilities);
    demand(info.lid_mask_control <= 7, "LMC has three bits");
    demand(info.is_link_up() || (info.width_active == 0 && info.speed_active == 0), "no rate while down");
    demand(info.state <= PortState::kActive && info.physical_state <= PortPhysicalState::kPhyTest, "known states");
    const double rate = link_bits_per_second(info.width_active, info.speed_active);
    demand(rate >= 0 && rate <= 12 * 200e9, "a rate is one of the known ones, or none");
  }
  (void)has_other_management_key(mad, 1);
  const VendorPortInfo vendor = decode_vendor_port_info(mad);
  demand(((vendor.speed_active | vendor.speed_enabled | vendor.speed_supported) & ~kSpeedFdr10) == 0, "FDR10 or none");
  demand(decode_path_record_sl(mad) <= 15, "a service level has four bits");
}

void read_service_record(ConstMadBytes mad) {
  const ServiceRecord record = decode_service_record(mad);
  demand(record.name.size() <= ServiceRecord::kLongestName && record.data.size() <= ServiceRecord::kLongestData,
         "texts are as long as their fields");
  demand(record.name.find('\0') == std::string::npos, "a text ends at its first zero");
  std::array<std::uint8_t, kMadSize> written{};
  encode_service_record_set(written, record);
  const ServiceRecord again = decode_service_record(written);
  demand(again.service_id == record.service_id && again.port == record.port && again.pkey == record.pkey &&
             again.lease == record.lease && again.name == record.name && again.data == record.data &&
             again.data32 == record.data32 && again.data64 == record.data64,
         "what is written reads the same again");
}

void read_performance_reply(ConstMadBytes mad, std::uint16_t attribute, bool rs_fec) {
  const PerformanceAgentInfo agent = decode_performance_class_port_info(mad);
  (void)decode_samples_tick(mad);
  (void)decode_rs_fec_active(mad);
  SampleTable counters = SampleTable::of_group(CounterGroup::kEverySweep, 2);
  decode_port_counters(mad, agent, counters, 1);
  decode_port_counters_extended(mad, agent, counters, 1);
  for (SampleTable::Column column = 0; column < counters.columns(); ++column)
    demand(!counters.present(0, column), "another port's row is left alone");
  SampleTable details = SampleTable::of_group(CounterGroup::kDetail, 2);
  (void)decode_detail(attribute, mad, rs_fec, details, 1);
  for (SampleTable::Column column = 0; column < details.columns(); ++column)
    demand(!details.present(0, column), "another port's row is left alone");
}

}  // namespace

// The first bytes say what was asked and how much arrived; the rest is the reply.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 4;
  if (size < kHead) return 0;
  const MadClass mad_class = kClasses[data[0] % kClasses.size()];
  const auto attribute = static_cast<std::uint16_t>(data[1] << 8 | data[2]);
  std::array<std::uint8_t, kMadSize> mad{};
  const std::size_t arrived = std::min(size - kHead, kMadSize);
  std::copy_n(data + kHead, arrived, mad.begin());

  const MadResult result = check_reply(mad, arrived, mad_class, attribute);
  demand(result == MadResult::kOk || result == MadResult::kBadStatus || result == MadResult::kUnsupported ||
             result == MadResult::kMalformed,
         "a reply is good, refused or malformed");
  const std::size_t record_end = attribute == attribute::kServiceRecord ? 56 + 176 : 56 + 64;
  demand(arrived >= (mad_class == MadClass::kSubnetAdministration ? record_end : kMadSize) ||
             result == MadResult::kMalformed,
         "a reply cut short is malformed");
  demand(result != MadResult::kOk || status_of(mad) == 0, "a good reply has status 0");
  (void)transaction_of(mad);
  read_subnet_reply(mad);
  read_service_record(mad);
  read_performance_reply(mad, attribute, data[3] & 1);
  return 0;
}
