// SPDX-License-Identifier: Apache-2.0
// Adapters that are more, or less, than one device with one port: bonds, virtual functions, subfunctions, representors.
#include <gtest/gtest.h>

#include <algorithm>

#include <filesystem>
#include <fstream>
#include <regex>

#include "collectors/ethernet/interface_scan.hpp"
#include "collectors/host/host_reader.hpp"
#include "collectors/host/interface_state.hpp"
#include "collectors/rdma/device_scan.hpp"
#include "tests/unit/collectors/reading.hpp"
#include "tests/unit/collectors/sysfs_tree.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using tests::port_of;
using tests::SysfsTree;
using tests::value_of;

constexpr TimePoint kStart{std::chrono::seconds(1'000'000)};

HostReading read(const SysfsTree& tree) {
  HostReaderOptions options;
  options.sysfs_root = tree.root();
  return HostReader(options).read(kStart);
}

std::vector<HostPort> rdma_ports(const SysfsTree& tree) {
  std::vector<HostPort> ports;
  for (const rdma::ScannedDevice& device : rdma::scan_devices(tree.root()))
    for (const rdma::ScannedPort& port : device.ports) ports.push_back(port.port);
  return ports;
}

ethernet::InterfaceScan interfaces(const SysfsTree& tree) {
  return ethernet::scan_interfaces(tree.root(), rdma_ports(tree));
}

/// A RoCE port that is up; `netdev` is the interface of its first GID, which has none when that is empty.
fs::path add_port(const SysfsTree& tree, const fs::path& device, const char* number, const char* netdev) {
  const fs::path port = device / "ports" / number;
  tree.write_all(port, {{"link_layer", "Ethernet"},
                        {"state", "4: ACTIVE"},
                        {"phys_state", "5: LinkUp"},
                        {"rate", "200 Gb/sec (4X HDR)"},
                        {"gid_attrs/ndevs/0", netdev},
                        {"hw_counters/np_cnp_sent", "5"}});
  return port;
}

/// A ConnectX-7 with the functions 0000:3b:00.0 and 0000:3b:00.1 and an interface on each, ens1f0np0 and ens1f1np1.
void add_functions(const SysfsTree& tree) {
  tree.add_function("0000:3b:00.0", "mlx5_core");
  tree.add_function("0000:3b:00.1", "mlx5_core");
  tree.add_interface("0000:3b:00.0", "ens1f0np0", "4");
  tree.add_interface("0000:3b:00.1", "ens1f1np1", "5");
  tree.name_port("ens1f0np0", "p0");
  tree.name_port("ens1f1np1", "p1");
}

/// Both in bond0: RoCE LAG, one RDMA device on the first function for both, whose GIDs are the bond's.
void add_roce_bond(const SysfsTree& tree) {
  add_functions(tree);
  tree.add_bond("bond0", "9", {"ens1f0np0", "ens1f1np1"});
  add_port(tree, tree.add_device("0000:3b:00.0", "mlx5_bond_0"), "1", "bond0");
}

TEST(RoceBond, IsOneDeviceOnItsFirstInterface) {
  const SysfsTree tree;
  add_roce_bond(tree);
  const HostReading reading = read(tree);
  ASSERT_EQ(reading.inventory->ports.size(), 1U);
  const HostPort& port = reading.inventory->ports.front();
  EXPECT_EQ(port.device, "mlx5_bond_0");
  EXPECT_EQ(port.number, 1);
  EXPECT_EQ(port.driver, "mlx5");
  EXPECT_EQ(port.netdev, "ens1f0np0");
  EXPECT_EQ(port.bond, "bond0");
  EXPECT_EQ(port.pci_address, "0000:3b:00.0");
  EXPECT_FALSE(port.is_virtual_function);
  EXPECT_EQ(value_of(reading, {"mlx5_bond_0", 1, "cnp_sent"}), 5U);
}

TEST(RoceBond, EachOfItsInterfacesIsOnePortAndTheBondIsNone) {
  const SysfsTree tree;
  add_roce_bond(tree);
  const ethernet::InterfaceScan scan = interfaces(tree);
  ASSERT_EQ(scan.interfaces.size(), 2U);
  EXPECT_EQ(scan.interfaces[0].name, "ens1f0np0");
  EXPECT_EQ(scan.interfaces[0].device, "mlx5_bond_0");
  EXPECT_EQ(scan.interfaces[0].port, 1);
  EXPECT_EQ(scan.interfaces[0].driver, "mlx5_core");
  EXPECT_FALSE(scan.interfaces[0].is_software_rdma);
  EXPECT_EQ(scan.interfaces[1].name, "ens1f1np1");
  EXPECT_EQ(scan.interfaces[1].device, "ens1f1np1");
  EXPECT_EQ(scan.interfaces[1].port, 0);
  ASSERT_EQ(scan.alone.size(), 1U);
  EXPECT_EQ(scan.alone[0].netdev, "ens1f1np1");
  EXPECT_EQ(scan.alone[0].bond, "bond0");
  EXPECT_EQ(scan.alone[0].pci_address, "0000:3b:00.1");
  EXPECT_EQ(scan.alone[0].driver, "mlx5_core");
}

TEST(RoceBond, OfTwoAdaptersLeavesEachItsDevice) {
  const SysfsTree tree;
  add_functions(tree);
  tree.add_bond("bond0", "9", {"ens1f0np0", "ens1f1np1"});
  add_port(tree, tree.add_device("0000:3b:00.0", "mlx5_0"), "1", "bond0");
  add_port(tree, tree.add_device("0000:3b:00.1", "mlx5_1"), "1", "bond0");
  const HostReading reading = read(tree);
  ASSERT_EQ(reading.inventory->ports.size(), 2U);
  EXPECT_EQ(port_of(reading, "mlx5_0", 1)->netdev, "ens1f0np0");
  EXPECT_EQ(port_of(reading, "mlx5_0", 1)->pci_address, "0000:3b:00.0");
  EXPECT_EQ(port_of(reading, "mlx5_1", 1)->netdev, "ens1f1np1");
  EXPECT_EQ(port_of(reading, "mlx5_1", 1)->pci_address, "0000:3b:00.1");
  for (const HostPort& port : reading.inventory->ports) EXPECT_EQ(port.bond, "bond0");
  EXPECT_TRUE(interfaces(tree).alone.empty());
}

TEST(RoceBond, SoftRoceStandsOnTheBondItself) {
  const SysfsTree tree;
  add_functions(tree);
  tree.add_bond("bond0", "9", {"ens1f0np0", "ens1f1np1"});
  const fs::path rxe = tree.add_device("", "rxe0");
  tree.write(rxe / "parent", "bond0\n");
  add_port(tree, rxe, "1", "bond0");
  const ethernet::InterfaceScan scan = interfaces(tree);
  ASSERT_EQ(scan.interfaces.size(), 3U);
  EXPECT_EQ(scan.interfaces[0].name, "bond0");
  EXPECT_EQ(scan.interfaces[0].device, "rxe0");
  EXPECT_TRUE(scan.interfaces[0].is_software_rdma);
  ASSERT_EQ(scan.alone.size(), 2U);
  EXPECT_EQ(scan.alone[0].bond, "bond0");
  EXPECT_EQ(scan.alone[1].bond, "bond0");
}

TEST(RoceBond, IsDownWhereItsOwnLinkIs) {
  const SysfsTree tree;
  add_roce_bond(tree);
  const ethernet::LinkSource::State cable_out{true, true, false};
  // The kernel calls the device active as long as the other link is up.
  HostPort port = rdma_ports(tree).front();
  ASSERT_EQ(port.state, PortState::kActive);
  host::add_interface_state(port, cable_out);
  EXPECT_EQ(port.state, PortState::kDown);
  EXPECT_EQ(port.physical_state, PortPhysicalState::kDisabled);
  EXPECT_EQ(port.rate_bits_per_second, 0U);
  EXPECT_FALSE(port.administratively_down);

  port = rdma_ports(tree).front();
  host::add_interface_state(port, {true, true, true});
  EXPECT_EQ(port.state, PortState::kActive);
  EXPECT_EQ(port.rate_bits_per_second, 200'000'000'000U);
  // A carrier is not yet RDMA.
  port.state = PortState::kInitialize;
  host::add_interface_state(port, {true, true, true});
  EXPECT_EQ(port.state, PortState::kInitialize);
}

TEST(InterfaceState, IsTheWholeStateOfAnInterfaceAloneAndNoneOfAnRdmaPort) {
  HostPort alone;
  alone.rate_bits_per_second = 100;
  host::add_interface_state(alone, {true, true, true});
  EXPECT_EQ(alone.state, PortState::kActive);
  EXPECT_EQ(alone.rate_bits_per_second, 100U);
  host::add_interface_state(alone, {true, false, true});
  EXPECT_EQ(alone.state, PortState::kDown);
  EXPECT_TRUE(alone.administratively_down);
  EXPECT_EQ(alone.rate_bits_per_second, 0U);

  HostPort rdma;
  rdma.number = 1;
  rdma.state = PortState::kActive;
  host::add_interface_state(rdma, {true, false, false});
  EXPECT_EQ(rdma.state, PortState::kActive) << "its driver has the word";
  EXPECT_TRUE(rdma.administratively_down);
}

TEST(VirtualFunction, HasADeviceAndAnInterfaceOfItsOwn) {
  const SysfsTree tree;
  add_functions(tree);
  add_port(tree, tree.add_device("0000:3b:00.0", "mlx5_0"), "1", "ens1f0np0");
  for (const auto& [address, device, interface, ifindex] : {std::tuple("0000:3b:00.2", "mlx5_2", "ens1f0v0", "20"),
                                                            std::tuple("0000:3b:00.3", "mlx5_3", "ens1f0v1", "21")}) {
    tree.add_function(address, "mlx5_core");
    tree.make_virtual(address, "0000:3b:00.0");
    tree.add_interface(address, interface, ifindex);
    add_port(tree, tree.add_device(address, device), "1", interface);
  }
  // One more whose RDMA is turned off, and one that a guest has: no driver of ours, no interface.
  tree.add_function("0000:3b:00.4", "mlx5_core");
  tree.make_virtual("0000:3b:00.4", "0000:3b:00.0");
  tree.add_interface("0000:3b:00.4", "ens1f0v2", "22");
  tree.add_function("0000:3b:00.5", "vfio-pci");
  tree.make_virtual("0000:3b:00.5", "0000:3b:00.0");

  const HostReading reading = read(tree);
  ASSERT_EQ(reading.inventory->ports.size(), 3U);
  EXPECT_FALSE(port_of(reading, "mlx5_0", 1)->is_virtual_function);
  const HostPort* first = port_of(reading, "mlx5_2", 1);
  EXPECT_TRUE(first->is_virtual_function);
  EXPECT_EQ(first->netdev, "ens1f0v0");
  EXPECT_EQ(first->pci_address, "0000:3b:00.2");
  EXPECT_EQ(first->driver, "mlx5");
  EXPECT_EQ(port_of(reading, "mlx5_3", 1)->netdev, "ens1f0v1");
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "cnp_sent"}), 5U);
  EXPECT_EQ(value_of(reading, {"mlx5_3", 1, "cnp_sent"}), std::nullopt) << "it is the port's, which mlx5_0 counts";

  const ethernet::InterfaceScan scan = interfaces(tree);
  EXPECT_EQ(scan.interfaces.size(), 5U);
  ASSERT_EQ(scan.alone.size(), 2U);
  EXPECT_EQ(scan.alone[0].device, "ens1f0v2");
  const auto beside = std::ranges::count_if(scan.interfaces, &ethernet::Interface::is_beside_its_port);
  EXPECT_EQ(beside, 3) << "the virtual functions";
  EXPECT_TRUE(scan.alone[0].is_virtual_function);
  EXPECT_EQ(scan.alone[1].device, "ens1f1np1");
  EXPECT_FALSE(scan.alone[1].is_virtual_function);
}

TEST(Representor, IsNoPortOfItsOwn) {
  const SysfsTree tree;
  add_functions(tree);
  // The host's function as a BlueField sees it, a virtual function and a subfunction; all older than the adapter's own
  // interface, so that the order does not give it away.
  tree.add_interface("0000:3b:00.0", "pf0hpf", "1");
  tree.add_interface("0000:3b:00.0", "ens1f0npf0vf0", "2");
  tree.add_interface("0000:3b:00.0", "en3f0pf0sf88", "3");
  tree.name_port("pf0hpf", "c1pf0");
  tree.name_port("ens1f0npf0vf0", "pf0vf0");
  tree.name_port("en3f0pf0sf88", "pf0sf88");
  const fs::path device = tree.add_device("0000:3b:00.0", "mlx5_0");
  add_port(tree, device, "1", "ens1f0np0");
  add_port(tree, device, "2", "pf0hpf");
  add_port(tree, device, "3", "ens1f0npf0vf0");
  add_port(tree, device, "4", "en3f0pf0sf88");
  add_port(tree, device, "5", "");  // room for a function that is not there

  const HostReading reading = read(tree);
  ASSERT_EQ(reading.inventory->ports.size(), 1U);
  EXPECT_EQ(reading.inventory->ports[0].number, 1);
  EXPECT_EQ(reading.inventory->ports[0].netdev, "ens1f0np0");
  EXPECT_EQ(tests::position_of(reading, {"mlx5_0", 2, "cnp_sent"}), std::nullopt);

  const ethernet::InterfaceScan scan = interfaces(tree);
  ASSERT_EQ(scan.interfaces.size(), 2U);
  EXPECT_EQ(scan.interfaces[0].device, "mlx5_0");
  EXPECT_EQ(scan.interfaces[1].device, "ens1f1np1");
  EXPECT_FALSE(ethernet::is_watched_alone(tree.root(), "pf0hpf", nullptr));
}

TEST(SoftwareInterfaces, AreWatchedWhenTheirNamesAreAskedFor) {
  const SysfsTree tree;
  for (const char* name : {"swp1", "docker0"}) {
    const fs::path place = fs::path(tree.root()) / "class/net" / name;
    fs::create_directories(place);
    std::ofstream(place / "ifindex") << (name[0] == 's' ? 7 : 8) << '\n';
    std::ofstream(place / "type") << "1\n";
  }
  EXPECT_TRUE(ethernet::scan_interfaces(tree.root(), {}).interfaces.empty());
  const std::regex front("^swp");
  const ethernet::InterfaceScan scan = ethernet::scan_interfaces(tree.root(), {}, &front);
  ASSERT_EQ(scan.alone.size(), 1U);
  EXPECT_EQ(scan.alone[0].netdev, "swp1");
  EXPECT_EQ(scan.alone[0].link_layer, LinkLayer::kEthernet);
  EXPECT_TRUE(ethernet::is_watched_alone(tree.root(), "swp2", &front)) << "it has just come";
  EXPECT_FALSE(ethernet::is_watched_alone(tree.root(), "docker0", &front));
}

TEST(MultiportDevice, FindsTheInterfaceOfItsSecondPortOnTheOtherFunction) {
  const SysfsTree tree;
  add_functions(tree);
  const fs::path device = tree.add_device("0000:3b:00.0", "mlx5_0");
  add_port(tree, device, "1", "ens1f0np0");
  add_port(tree, device, "2", "ens1f1np1");
  const HostReading reading = read(tree);
  ASSERT_EQ(reading.inventory->ports.size(), 2U);
  EXPECT_EQ(port_of(reading, "mlx5_0", 1)->netdev, "ens1f0np0");
  EXPECT_EQ(port_of(reading, "mlx5_0", 2)->netdev, "ens1f1np1");
  EXPECT_TRUE(interfaces(tree).alone.empty());
}

TEST(Subfunction, IsOfItsAdaptersDriverAndOthersMayTakeItAway) {
  const SysfsTree tree;
  const std::string place = "0000:3b:00.0/mlx5_core.sf.4";
  tree.add_function("0000:3b:00.0", "mlx5_core");
  tree.add_interface("0000:3b:00.0", "ens1f0np0", "4");
  tree.add_function(place, "mlx5_core.sf");
  tree.write("devices/pci0000:00/" + place + "/sfnum", "88\n");
  tree.add_interface(place, "enp59s0f0s88", "30");
  add_port(tree, tree.add_device(place, "mlx5_4"), "1", "enp59s0f0s88");
  const HostReading reading = read(tree);
  const HostPort* port = port_of(reading, "mlx5_4", 1);
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->driver, "mlx5");
  EXPECT_EQ(port->netdev, "enp59s0f0s88");
  EXPECT_EQ(port->pci_address, "0000:3b:00.0");
  EXPECT_TRUE(port->is_virtual_function);
  EXPECT_EQ(value_of(reading, {"mlx5_4", 1, "cnp_sent"}), std::nullopt) << "ens1f0np0 is there to tell";
}

TEST(VirtualFunction, CountsThePortWhereNobodyElseDoes) {
  const SysfsTree tree;
  // The physical function belongs to a guest, or to no driver: it has no interface and no RDMA device here.
  tree.add_function("0000:3b:00.0", "vfio-pci");
  tree.add_function("0000:3b:00.2", "mlx5_core");
  tree.make_virtual("0000:3b:00.2", "0000:3b:00.0");
  tree.add_interface("0000:3b:00.2", "ens1f0v0", "20");
  add_port(tree, tree.add_device("0000:3b:00.2", "mlx5_2"), "1", "ens1f0v0");
  EXPECT_EQ(value_of(read(tree), {"mlx5_2", 1, "cnp_sent"}), 5U);
}

}  // namespace
}  // namespace weft
