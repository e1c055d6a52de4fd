// SPDX-License-Identifier: Apache-2.0
#include "collectors/sysfs/sysfs_text.hpp"

#include "fabric/adapter_faults.hpp"
#include "fabric/pcie_links.hpp"
#include "fuzz.hpp"

// Whatever a file of sysfs says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto counter = sysfs::parse_counter(text))
    fuzz::demand(sysfs::parse_counter(std::to_string(*counter)) == counter, "a counter reads back");
  fuzz::demand(sysfs::parse_port_state(text) <= PortState::kActive, "a port state is one");
  fuzz::demand(sysfs::parse_physical_state(text) <= PortPhysicalState::kPhyTest, "a physical state is one");
  fuzz::demand(sysfs::parse_rate(text) <= 1'000'001'000'000'000, "a rate is bounded");
  sysfs::parse_link_layer(text);
  sysfs::parse_lid(text);
  sysfs::parse_node_guid(text);
  const PortGuid any = sysfs::parse_gid(text, false);
  const PortGuid local = sysfs::parse_gid(text, true);
  fuzz::demand(!local || local == any, "a link-local GID is a GID");
  const std::string address = sysfs::pci_address_in(text);
  fuzz::demand(address.empty() || sysfs::is_pci_address(address), "an address in a path is one");
  sysfs::parse_signed(text);
  sysfs::parse_aer_total(text);
  parse_pcie_rate(text, text);
  const auto links = parse_pcie_links(text);
  fuzz::demand(links.size() <= kMostPcieLinks && parse_pcie_links(to_text(links)) == links, "links read back");
  const DriverLine line = parse_driver_line(text);
  fuzz::demand(!line.fault || sysfs::is_pci_address(line.address), "a fault is of a function");
  return 0;
}
