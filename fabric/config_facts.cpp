// SPDX-License-Identifier: Apache-2.0
#include "fabric/config_facts.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "fabric/names.hpp"

namespace weft {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(FactSource::kCount)> kSources{
    "sysfs", "ethtool", "dcb", "kernel_log", "netlink", "nccl"};

constexpr const char* kModuleMemory = "ethtool netlink MODULE_EEPROM_GET: ethtool -m IF";

using enum FactScope;
constexpr std::array<ConfigFactRow, kConfigFacts> kRows{{
    {"firmware", "firmware", "", "/sys/class/infiniband/DEV/fw_ver; ethtool -i", kAdapter, true, false},
    {"driver", "driver", "", "/sys/class/net/IF/device/driver", kAdapter, true, false},
    {"driver_version", "driver version", "", "/sys/module/DRIVER/version; ethtool -i", kAdapter, true, false},
    {"pcie_speed", "PCIe speed", "", "/sys/bus/pci/devices/ADDRESS/current_link_speed", kAdapter, true, false},
    {"pcie_width", "PCIe width", "lanes", "/sys/bus/pci/devices/ADDRESS/current_link_width", kAdapter, true, false},
    {"pcie_speed_max", "greatest PCIe speed", "", "/sys/bus/pci/devices/ADDRESS/max_link_speed", kAdapter, true, false},
    {"pcie_width_max", "greatest PCIe width", "lanes", "/sys/bus/pci/devices/ADDRESS/max_link_width", kAdapter, true,
     false},
    {"virtual_functions", "number of virtual functions", "", "/sys/bus/pci/devices/ADDRESS/sriov_numvfs", kAdapter,
     true, false},
    {"mtu", "MTU", "bytes", "/sys/class/net/IF/mtu", kPort, true, true},
    {"pfc_priorities", "priorities with PFC", "", "dcbnl IEEE_PFC: dcb pfc show dev IF", kPort, true, true},
    {"ets_priorities", "traffic classes of priorities 0 to 7", "", "dcbnl IEEE_ETS: dcb ets show dev IF", kPort, true,
     false},
    {"ets_classes", "scheduling of traffic classes 0 to 7", "", "dcbnl IEEE_ETS: dcb ets show dev IF", kPort, true,
     false},
    {"dscp_priorities", "priorities of DSCP values", "", "dcbnl IEEE_APP: dcb app show dev IF dscp-prio", kPort, true,
     false},
    {"pause", "pause settings", "", "ethtool netlink PAUSE_GET: ethtool -a IF", kPort, true, false},
    {"fec_setting", "FEC settings", "", "ethtool netlink FEC_GET: ethtool --show-fec IF", kPort, true, false},
    // It follows the cable: ports of one make may differ.
    {"fec_active", "active FEC", "", "ethtool netlink FEC_GET: ethtool --show-fec IF", kPort, false, true},
    {"board", "board", "", "/sys/class/infiniband/DEV/board_id", kAdapter, false, false},
    {"pci_ids", "PCI ids", "", "/sys/bus/pci/devices/ADDRESS/{vendor,device,subsystem_vendor,subsystem_device}",
     kAdapter, false, false},
    {"host_model", "model of the host", "", "/sys/class/dmi/id/product_name", kHost, false, false},
    // They go with the module: ports of one make may have others.
    {"module_vendor", "vendor of the module", "", kModuleMemory, kPort, false, false},
    {"module_part", "part number of the module", "", kModuleMemory, kPort, false, false},
    {"module_revision", "revision of the module", "", kModuleMemory, kPort, false, false},
    {"module_serial", "serial number of the module", "", kModuleMemory, kPort, false, false},
    // Addresses are in it, which differ from host to host: pcie_speed and pcie_width are compared.
    {"pcie_links", "PCIe links up to the root, each at/its end/the port above", "GT/s x lanes",
     "/sys/bus/pci/devices/ADDRESS/{current,max}_link_{speed,width}, and those of the bridges above", kAdapter, false,
     false},
    // Low alarm, low warning, high warning, high alarm: fabric/part_limits.hpp.
    {"module_temperature_limits", "temperature limits of the module", "degrees Celsius", kModuleMemory, kPort, false,
     false},
    {"module_bias_limits", "laser bias limits of the module", "mA", kModuleMemory, kPort, false, false},
    {"module_transmit_power_limits", "transmit power limits of the module", "mW", kModuleMemory, kPort, false, false},
    {"adapter_temperature_limits", "temperature limits of the adapter", "degrees Celsius",
     "/sys/bus/pci/devices/ADDRESS/hwmon/hwmon*/temp1_{max,crit}", kAdapter, false, false},
    {"kernel_fault", "fault that the kernel's log tells of", "", "/dev/kmsg: dmesg", kAdapter, false, false},
    {"host_addresses", "addresses of the host", "", "getifaddrs(3): ip address", kHost, false, false},
    // Of a job whose hosts are silent, as NCCL on this host knows it: fabric/stuck_ranks.hpp.
    {"nccl_ranks", "ranks that NCCL has no answer of", "", "the RAS port of NCCL: ncclras", kHost, false, false},
}};

std::string printable_value(std::string_view text, std::size_t most) {
  std::string clean(text.substr(0, most));
  std::ranges::replace_if(
      clean, [](unsigned char c) { return c < 0x20 || c > 0x7E; }, '?');
  return clean;
}

auto place_of_facts(const PortFacts& port) {
  return std::tie(port.device, port.number);
}

}  // namespace

const char* to_string(FactSource source) {
  return name_of(kSources, source);
}

const ConfigFactRow& row_of(ConfigFact fact) {
  return kRows[static_cast<std::size_t>(fact)];
}

std::optional<ConfigFact> parse_config_fact(std::string_view name) {
  const auto found = std::ranges::find_if(kRows, [name](const ConfigFactRow& row) { return name == row.name; });
  if (found == kRows.end()) return std::nullopt;
  return static_cast<ConfigFact>(found - kRows.begin());
}

FactTable tidy(FactTable table) {
  for (PortFacts& port : table.ports) {
    port.device = printable_value(port.device, FactLimits::kDeviceLength);
    for (FactValue& fact : port.facts) fact.value = printable_value(fact.value, FactLimits::kValueLength);
    std::erase_if(port.facts, [](const FactValue& fact) {
      return fact.value.empty() || fact.fact >= ConfigFact::kCount || fact.source >= FactSource::kCount;
    });
    std::ranges::stable_sort(port.facts, {}, &FactValue::fact);
    port.facts.erase(std::unique(port.facts.begin(), port.facts.end(),
                                 [](const FactValue& a, const FactValue& b) { return a.fact == b.fact; }),
                     port.facts.end());
  }
  std::erase_if(table.ports, [](const PortFacts& port) { return port.facts.empty(); });
  std::ranges::stable_sort(
      table.ports, [](const PortFacts& a, const PortFacts& b) { return place_of_facts(a) < place_of_facts(b); });
  table.ports.erase(
      std::unique(table.ports.begin(), table.ports.end(),
                  [](const PortFacts& a, const PortFacts& b) { return place_of_facts(a) == place_of_facts(b); }),
      table.ports.end());
  if (table.ports.size() > FactLimits::kPorts) table.ports.resize(FactLimits::kPorts);
  return table;
}

const FactValue* find_fact(const PortFacts& port, ConfigFact fact) {
  const auto found = std::ranges::lower_bound(port.facts, fact, {}, &FactValue::fact);
  return found != port.facts.end() && found->fact == fact ? &*found : nullptr;
}

std::string_view fact_text(const PortFacts* port, ConfigFact fact) {
  const FactValue* const found = port ? find_fact(*port, fact) : nullptr;
  return found ? std::string_view(found->value) : std::string_view();
}

std::string make_of(const PortFacts& port) {
  for (const ConfigFact fact : {ConfigFact::kBoard, ConfigFact::kPciIds, ConfigFact::kDriver})
    if (const FactValue* const found = find_fact(port, fact))
      return std::string(row_of(fact).words) + ' ' + found->value;
  return {};
}

const PortFacts* find_facts(const FactTable& table, std::string_view device, std::uint8_t number) {
  const auto found = std::ranges::lower_bound(table.ports, std::pair(device, number), {}, [](const PortFacts& port) {
    return std::pair(std::string_view(port.device), port.number);
  });
  return found != table.ports.end() && found->device == device && found->number == number ? &*found : nullptr;
}

}  // namespace weft
