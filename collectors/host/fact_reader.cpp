// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/fact_reader.hpp"

#include <algorithm>
#include <utility>

#include "collectors/sysfs/pcie_path.hpp"
#include "collectors/sysfs/sysfs_files.hpp"
#include "collectors/sysfs/sysfs_text.hpp"

namespace weft::host {
namespace {

using sysfs::read_text;

bool is_over(TimePoint now, TimePoint since, Duration span) {
  return since == kNever || now < since || now - since >= span;
}

void add_fact(ConfigFact fact, FactSource source, std::string value, std::vector<FactValue>& facts) {
  if (!value.empty()) facts.push_back({fact, source, std::move(value)});
}

/// "0x15b3:0x1021 0x15b3:0x0061", vendor and device of the chip and of the board (Documentation/PCI, sysfs-pci.rst).
std::string pci_ids(const std::string& device) {
  const std::string vendor = read_text(device + "/vendor");
  const std::string chip = read_text(device + "/device");
  if (vendor.empty() || chip.empty()) return {};
  std::string ids = vendor + ':' + chip;
  const std::string maker = read_text(device + "/subsystem_vendor");
  const std::string board = read_text(device + "/subsystem_device");
  if (!maker.empty() && !board.empty()) ids += ' ' + maker + ':' + board;
  return ids;
}

std::string pcie_links(const std::string& device) {
  return to_text(sysfs::read_pcie_links(sysfs::pcie_functions(device)));
}

/// "Unknown" and 255 lanes are what the kernel says of a link that it cannot read (drivers/pci/pci-sysfs.c).
std::string known_speed(std::string text) {
  return text.starts_with("Unknown") ? std::string() : text;
}
std::string known_width(const std::string& text) {
  const auto lanes = sysfs::parse_counter(text);
  return lanes && *lanes > 0 && *lanes < 255 ? std::to_string(*lanes) : std::string();
}
std::string number_text(const std::string& text) {
  const auto number = sysfs::parse_counter(text);
  return number ? std::to_string(*number) : std::string();
}

}  // namespace

std::string FactReader::device_path(const HostPort& port) const {
  const bool is_rdma = port.number != 0;
  return options_.sysfs_root + (is_rdma ? "/class/infiniband/" : "/class/net/") + port.device + "/device";
}

std::string FactReader::quick_look(std::span<const HostPort> ports) const {
  std::string look;
  for (const HostPort& port : ports) {
    if (port.is_virtual_function) continue;
    for (const std::string* text : {&port.device, &port.netdev, &port.firmware, &port.driver, &port.board_id})
      look += *text + '\n';
    look += std::to_string(port.number) + (port.state == PortState::kActive ? " up\n" : " down\n");
    if (!options_.sysfs) continue;
    const std::string device = device_path(port);
    if (!port.netdev.empty()) look += read_text(options_.sysfs_root + "/class/net/" + port.netdev + "/mtu") + '\n';
    for (const char* const file : {"/current_link_speed", "/current_link_width", "/sriov_numvfs"})
      look += read_text(device + file) + '\n';
    look += pcie_links(device) + '\n';
  }
  return look;
}

bool FactReader::is_due(TimePoint now, std::span<const HostPort> ports, const FactAsk& ask) {
  bool due = is_over(now, read_at_, options_.whole_interval);
  if (ask.dcb && ask.dcb->take_changes()) due = true;
  if (ask.modules && ask.modules->take_changes()) due = true;
  if (ask.kernel_log && ask.kernel_log->take_changes()) due = true;
  if (!is_over(now, looked_at_, options_.look_interval)) return due;
  looked_at_ = now;
  std::string look = quick_look(ports);
  if (look == look_) return due;
  look_ = std::move(look);
  return true;
}

void FactReader::read_sysfs(const HostPort& port, std::vector<FactValue>& facts) const {
  constexpr FactSource kFrom = FactSource::kSysfs;
  const std::string device = device_path(port);
  add_fact(ConfigFact::kPcieSpeed, kFrom, known_speed(read_text(device + "/current_link_speed")), facts);
  add_fact(ConfigFact::kPcieWidth, kFrom, known_width(read_text(device + "/current_link_width")), facts);
  add_fact(ConfigFact::kPcieSpeedMost, kFrom, known_speed(read_text(device + "/max_link_speed")), facts);
  add_fact(ConfigFact::kPcieWidthMost, kFrom, known_width(read_text(device + "/max_link_width")), facts);
  add_fact(ConfigFact::kPcieLinks, kFrom, pcie_links(device), facts);
  add_fact(ConfigFact::kVirtualFunctions, kFrom, number_text(read_text(device + "/sriov_numvfs")), facts);
  add_fact(ConfigFact::kPciIds, kFrom, pci_ids(device), facts);
  if (!port.netdev.empty())
    add_fact(ConfigFact::kMtu, kFrom,
             number_text(read_text(options_.sysfs_root + "/class/net/" + port.netdev + "/mtu")), facts);
  // Drivers of the kernel's own source have no version there: drivers/infiniband says that the kernel's is theirs.
  const std::string driver = sysfs::link_name(device + "/driver");
  if (!driver.empty())
    add_fact(ConfigFact::kDriverVersion, kFrom, read_text(options_.sysfs_root + "/module/" + driver + "/version"),
             facts);
}

FactTable FactReader::read_all(std::span<const HostPort> ports, std::span<const ethernet::Interface> interfaces,
                               const FactAsk& ask) const {
  FactTable table;
  if (options_.sysfs)
    if (std::string model = read_text(options_.sysfs_root + "/class/dmi/id/product_name"); !model.empty())
      table.ports.push_back({{}, 0, {{ConfigFact::kHostModel, FactSource::kSysfs, std::move(model)}}});
  for (const HostPort& port : ports) {
    if (port.is_virtual_function) continue;
    PortFacts of{port.device, port.number, {}};
    add_fact(ConfigFact::kFirmware, port.number != 0 ? FactSource::kSysfs : FactSource::kEthtool, port.firmware,
             of.facts);
    add_fact(ConfigFact::kDriver, FactSource::kSysfs, port.driver, of.facts);
    add_fact(ConfigFact::kBoard, FactSource::kSysfs, port.board_id, of.facts);
    if (options_.sysfs) read_sysfs(port, of.facts);
    const auto interface = std::ranges::find(interfaces, port.netdev, &ethernet::Interface::name);
    if (!port.netdev.empty() && interface != interfaces.end() && !interface->is_infiniband) {
      if (ask.ethtool) ask.ethtool->read_facts(*interface, of.facts);
      if (ask.dcb) ask.dcb->read_facts(*interface, of.facts);
    }
    if (ask.statistics)
      add_fact(ConfigFact::kDriverVersion, FactSource::kEthtool, ask.statistics->version_of(port.netdev), of.facts);
    if (ask.modules && !port.netdev.empty()) ask.modules->read_facts(port.netdev, of.facts);
    if (ask.adapters)
      add_fact(ConfigFact::kAdapterTemperatureLimits, FactSource::kSysfs, ask.adapters->temperature_limits(port.device),
               of.facts);
    if (ask.kernel_log && !port.pci_address.empty())
      add_fact(ConfigFact::kKernelFault, FactSource::kKernelLog, ask.kernel_log->fault_of(port.pci_address), of.facts);
    table.ports.push_back(std::move(of));
  }
  return tidy(std::move(table));
}

void FactReader::read(TimePoint now, std::span<const HostPort> ports, std::span<const ethernet::Interface> interfaces,
                      const FactAsk& ask) {
  if (!is_due(now, ports, ask)) return;
  FactTable table = read_all(ports, interfaces, ask);
  if (!table_ || *table_ != table) table_ = std::make_shared<const FactTable>(std::move(table));
  read_at_ = now;
}

}  // namespace weft::host
