// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/infiniband_exporter_page.hpp"

#include <array>
#include <utility>

#include "api/metrics/family.hpp"
#include "api/metrics/sample.hpp"
#include "api/metrics/shown_ports.hpp"
#include "api/publication/derived.hpp"

namespace weft::api {
namespace {

/// A counter of the sweep, and what infiniband_exporter calls it after "infiniband_switch_port_".
struct ExportedCounter {
  CounterId id;
  std::string_view name;
};
constexpr auto kExportedCounters = std::to_array<ExportedCounter>({
    {CounterId::kTransmitBytes, "transmit_data_bytes"},
    {CounterId::kReceiveBytes, "receive_data_bytes"},
    {CounterId::kTransmitPackets, "transmit_packets"},
    {CounterId::kReceivePackets, "receive_packets"},
    {CounterId::kUnicastTransmitPackets, "unicast_transmit_packets"},
    {CounterId::kUnicastReceivePackets, "unicast_receive_packets"},
    {CounterId::kMulticastTransmitPackets, "multicast_transmit_packets"},
    {CounterId::kMulticastReceivePackets, "multicast_receive_packets"},
    {CounterId::kSymbolErrors, "symbol_error"},
    {CounterId::kLinkErrorRecovery, "link_error_recovery"},
    {CounterId::kLinkDowned, "link_downed"},
    {CounterId::kReceiveErrors, "receive_errors"},
    {CounterId::kReceiveRemotePhysicalErrors, "receive_remote_physical_errors"},
    {CounterId::kReceiveSwitchRelayErrors, "receive_switch_relay_errors"},
    {CounterId::kTransmitDiscards, "transmit_discards"},
    {CounterId::kTransmitConstraintErrors, "transmit_constraint_errors"},
    {CounterId::kReceiveConstraintErrors, "receive_constraint_errors"},
    {CounterId::kLocalLinkIntegrityErrors, "local_link_integrity_errors"},
    {CounterId::kExcessiveBufferOverrunErrors, "excessive_buffer_overrun_errors"},
    {CounterId::kVl15Dropped, "vl15_dropped"},
    {CounterId::kTransmitWait, "transmit_wait"},
    {CounterId::kQp1Dropped, "qp1_dropped"},
    // perfquery -E: the exporter asks for them with --collector.switch.rcv-err-details.
    {CounterId::kLocalPhysicalErrors, "local_physical_errors"},
    {CounterId::kMalformedPacketErrors, "malformed_packet_errors"},
    {CounterId::kBufferOverrunErrors, "buffer_overrun_errors"},
    {CounterId::kDlidMappingErrors, "dli_mapping_errors"},  // so spelt
    {CounterId::kVlMappingErrors, "vl_mapping_errors"},
    {CounterId::kLoopingErrors, "looping_errors"},
});

/// Bits on the wire in a second on one lane, as the exporter has them: of HDR and NDR the data rate. Its 250 Gb/s of
/// XDR are neither.
double raw_lane_rate(SpeedMask speed) {
  switch (speed) {
    case kSpeedSdr:
      return 2.5e9;
    case kSpeedDdr:
      return 5e9;
    case kSpeedQdr:
      return 10e9;
    case kSpeedFdr10:
      return 10.3125e9;
    case kSpeedFdr:
      return 14.0625e9;
    case kSpeedEdr:
      return 25.78125e9;
    default:
      return lane_bits_per_second(speed);
  }
}

/// As ibnetdiscover --ports gives it: of an adapter the port's own.
PortGuid exported_guid(const Topology& topology, const Port& port) {
  return port.guid ? port.guid : PortGuid{topology.node_of(port).guid.value};
}

/// As ibnetdiscover gives it: from the node name map, else what the node says of itself, though many say the same.
std::string_view exported_name(const Node& node) {
  return node.name_is_given || node.description.empty() ? node.name : node.description;
}

/// As ibnetdiscover --ports spells it.
std::string_view exported_type(NodeType type) {
  switch (type) {
    case NodeType::kSwitch:
      return "SW";
    case NodeType::kChannelAdapter:
      return "CA";
    case NodeType::kRouter:
      return "RT";
    case NodeType::kUnknown:
      break;
  }
  return "??";
}

void append_label(std::string& text, std::string_view label, std::string_view value) {
  text += ',';
  text += label;
  text += "=\"";
  append_label_value(text, value);
  text += '"';
}

template <typename Number>
void append_end(std::string& text, Number value) {
  std::array<char, kLongestNumber> digits;
  text += "} ";
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
  text += '\n';
}

}  // namespace

struct InfinibandExporterPage::Family {
  std::string name;
  MetricType type;
  std::string_view help;
  MetricGroup group;
  Device device;
  Row row;
  CounterId counter = CounterId::kCount;
};

std::vector<InfinibandExporterPage::Family> InfinibandExporterPage::make_families() {
  std::vector<Family> families;
  for (const Device device : {Device::kSwitch, Device::kAdapter}) {
    const bool is_switch = device == Device::kSwitch;
    const std::string front = is_switch ? "infiniband_switch_" : "infiniband_hca_";
    // The rate of an adapter is one of the whole device there.
    const std::string rate_front = is_switch ? front + "port_" : front;
    const auto gauge = [&](std::string name, std::string_view help, Row row) {
      families.push_back({std::move(name), MetricType::kGauge, help, MetricGroup::kPorts, device, row});
    };
    gauge(front + "info", "Name and LID of the device; always 1.", Row::kInfo);
    gauge(rate_front + "rate_bytes_per_second", "Active data rate after line coding.", Row::kRate);
    gauge(rate_front + "raw_rate_bytes_per_second", "Active rate before line coding.", Row::kRawRate);
    gauge(front + "uplink_info", "The other end of the port's cable; always 1.", Row::kUplink);
    for (const ExportedCounter& exported : kExportedCounters) {
      const CounterInfo& info = counter_info(exported.id);
      const std::string_view help = exported.id == CounterId::kTransmitWait
                                        ? "Ticks of the port during which it had data to send but no credit."
                                        : info.help;
      families.push_back({front + "port_" + std::string(exported.name) + "_total", MetricType::kCounter, help,
                          group_of(info), device, Row::kCounter, exported.id});
    }
  }
  families.push_back({"infiniband_exporter_collect_timeouts", MetricType::kGauge,
                      "Devices with a port whose readings are old.", MetricGroup::kPorts, Device::kNone,
                      Row::kTimeouts});
  return families;
}

const std::vector<InfinibandExporterPage::Family>& InfinibandExporterPage::families() {
  static const std::vector<Family> kFamilies = make_families();
  return kFamilies;
}

InfinibandExporterPage::InfinibandExporterPage(std::shared_ptr<const Snapshot> snapshot, TimePoint now,
                                               MetricsFormat format, MetricGroups groups)
    : snapshot_(std::move(snapshot)), format_(format), groups_(groups) {
  const std::vector<std::vector<std::uint8_t>> shown = shown_ports(*snapshot_);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const FabricView& fabric = snapshot_->fabrics[i];
    if (shown[i].empty() || fabric.sweep->topology->is_ethernet()) continue;
    View& view = views_.emplace_back(View{&fabric, fabric.sweep->topology.get(), {}});
    view.ports.resize(shown[i].size(), Device::kNone);
    for (const Node& node : view.topology->nodes()) {
      const bool is_switch = node.type == NodeType::kSwitch;
      if (!is_switch && node.type != NodeType::kChannelAdapter) continue;
      bool is_silent = false;
      for (PortIndex p = node.first_port; p < node.first_port + node.port_entries(); ++p) {
        const Port& port = view.topology->port(p);
        const bool is_linked = port.state != PortState::kDown && port.state != PortState::kUnknown &&
                               port.number.value > 0 && port.peer != kNoIndex;
        if (shown[i][p] == 0 || !is_linked) continue;
        if (is_stale(fabric, p, now)) {
          is_silent = true;
        } else {
          view.ports[p] = is_switch ? Device::kSwitch : Device::kAdapter;
        }
      }
      if (is_silent) ++silent_[is_switch ? 0 : 1];
    }
  }
}

std::string_view InfinibandExporterPage::next() {
  text_.clear();
  while (family_ < families().size() && text_.size() < kChunk) {
    const Family& family = families()[family_];
    if (groups_.has(family.group)) write(family);
    if (groups_.has(family.group) && view_ < views_.size()) break;  // full
    ++family_;
    view_ = 0;
    headed_ = false;
  }
  if (family_ == families().size() && !std::exchange(ended_, true) && format_ == MetricsFormat::kOpenMetrics)
    text_ += "# EOF\n";
  return text_;
}

/// Appends the family's series that are left, until the piece is full.
void InfinibandExporterPage::write(const Family& family) {
  if (family.row == Row::kTimeouts) {
    append_head(text_, {family.name, family.type, family.help}, format_);
    append_sample(text_, family.name, {{"collector", "switch"}}, silent_[0]);
    append_sample(text_, family.name, {{"collector", "hca"}}, silent_[1]);
    view_ = views_.size();
    return;
  }
  for (; view_ < views_.size(); ++view_, port_ = 0) {
    const View& view = views_[view_];
    for (; port_ < view.ports.size(); ++port_) {
      if (text_.size() >= kChunk) return;
      if (view.ports[port_] == family.device) append_row(family, view, port_);
    }
  }
}

void InfinibandExporterPage::append_row(const Family& family, const View& view, PortIndex port) {
  switch (family.row) {
    case Row::kCounter:
      return append_counter(family, view, port);
    case Row::kRate:
    case Row::kRawRate:
      return append_rate(family, view, port);
    case Row::kInfo:
    case Row::kUplink:
      return append_names(family, view, port);
    case Row::kTimeouts:
      break;
  }
}

/// The head before the first series, the name, and the labels that all have.
void InfinibandExporterPage::begin(const Family& family, const View& view, PortIndex port, bool with_port) {
  if (!std::exchange(headed_, true)) append_head(text_, {family.name, family.type, family.help}, format_);
  text_ += family.name;
  text_ += "{guid=\"";
  text_ += to_string(exported_guid(*view.topology, view.topology->port(port)));
  text_ += '"';
  if (with_port) append_label(text_, "port", std::to_string(view.topology->port(port).number.value));
}

/// What a device has once is shown for the first of its ports that has series.
bool InfinibandExporterPage::is_first_of_device(const View& view, PortIndex index) {
  const Topology& topology = *view.topology;
  const PortGuid guid = exported_guid(topology, topology.port(index));
  for (PortIndex before = topology.node_of(topology.port(index)).first_port; before < index; ++before)
    if (view.ports[before] != Device::kNone && exported_guid(topology, topology.port(before)) == guid) return false;
  return true;
}

void InfinibandExporterPage::append_counter(const Family& family, const View& view, PortIndex port) {
  const bool is_detail = counter_info(family.counter).group != CounterGroup::kEverySweep;
  const SampleTable* const table = (is_detail ? view.fabric->sweep->details : view.fabric->sweep->counters).get();
  if (table == nullptr || port >= table->rows()) return;
  const SampleTable::Column column = table->column(family.counter);
  if (column == SampleTable::kNoColumn || !table->present(port, column)) return;
  begin(family, view, port, true);
  append_end(text_, table->value(port, column));
}

void InfinibandExporterPage::append_rate(const Family& family, const View& view, PortIndex index) {
  const bool is_of_device = family.device == Device::kAdapter;
  if (is_of_device && !is_first_of_device(view, index)) return;
  const Port& port = view.topology->port(index);
  const double lane =
      family.row == Row::kRate ? lane_bits_per_second(port.speed_active) : raw_lane_rate(port.speed_active);
  const double rate = lanes(port.width_active) * lane;
  if (rate <= 0) return;
  begin(family, view, index, !is_of_device);
  append_end(text_, static_cast<std::uint64_t>(rate / 8));
}

void InfinibandExporterPage::append_names(const Family& family, const View& view, PortIndex index) {
  const Topology& topology = *view.topology;
  const Port& port = topology.port(index);
  const Node& node = topology.node_of(port);
  const std::string_view own_label = family.device == Device::kSwitch ? "switch" : "hca";
  if (family.row == Row::kInfo) {
    if (!is_first_of_device(view, index)) return;
    begin(family, view, index, false);
    append_label(text_, own_label, exported_name(node));
    append_label(text_, "lid", std::to_string(port.lid.value));
    return append_end(text_, 1);
  }
  const Port& peer = topology.port(port.peer);
  const Node& other = topology.node_of(peer);
  begin(family, view, index, true);
  append_label(text_, own_label, exported_name(node));
  append_label(text_, "uplink", exported_name(other));
  append_label(text_, "uplink_guid", to_string(exported_guid(topology, peer)));
  append_label(text_, "uplink_lid", std::to_string(peer.lid.value));
  append_label(text_, "uplink_port", std::to_string(peer.number.value));
  append_label(text_, "uplink_type", exported_type(other.type));
  append_end(text_, 1);
}

}  // namespace weft::api
