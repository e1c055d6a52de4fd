// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>

#include "collectors/host/host_reader.hpp"
#include "tests/unit/collectors/reading.hpp"
#include "tests/unit/collectors/sysfs_tree.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using tests::port_of;
using tests::SysfsTree;
using tests::value_of;

constexpr TimePoint kSysfsStart{std::chrono::seconds(1'000'000)};
constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

HostReader reader_of(const SysfsTree& tree, bool raw_names = false) {
  HostReaderOptions options;
  options.sysfs_root = tree.root();
  options.raw_names = raw_names;
  return HostReader(options);
}

TEST(HostReaderSysfs, ReadsAnInfiniBandPort) {
  const SysfsTree tree;
  tree.add_mlx5();
  HostReader reader = reader_of(tree);
  const HostReading reading = reader.read(kSysfsStart);
  EXPECT_EQ(reading.taken, kSysfsStart);
  const HostPort* port = port_of(reading, "mlx5_0", 1);
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->netdev, "ib0");
  EXPECT_EQ(port->pci_address, "0000:17:00.0");
  EXPECT_EQ(port->driver, "mlx5");
  EXPECT_EQ(port->firmware, "28.39.1002");
  EXPECT_EQ(port->board_id, "MT_0000000838");
  EXPECT_EQ(port->device_type, "MT4129");
  EXPECT_EQ(port->link_layer, LinkLayer::kInfiniBand);
  EXPECT_FALSE(port->is_virtual_function);
  EXPECT_EQ(port->node_guid, (NodeGuid{0x0a7fbc1245efd23b}));
  EXPECT_EQ(port->port_guid, (PortGuid{0x0a7fbc1245efd23c}));
  EXPECT_EQ(port->lid, (Lid{0x1a}));
  EXPECT_EQ(port->state, PortState::kActive);
  EXPECT_EQ(port->physical_state, PortPhysicalState::kLinkUp);
  EXPECT_EQ(port->rate_bits_per_second, 400'000'000'000U);

  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "transmit_bytes"}), 4000U);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "transmit_packets"}), 20U);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "vl15_dropped"}), 3U);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "cnp_sent"}), 8'589'934'592U);
}

TEST(HostReaderSysfs, ARecordedTreeWithoutADriverIsKnownByItsCounters) {
  const SysfsTree tree;
  const fs::path port = "class/infiniband/rocep68s0/ports/1";
  tree.write_all(port, {{"state", "4: ACTIVE"}, {"link_layer", "Ethernet"}});
  tree.write_all(port / "hw_counters", {{"req_rx_dup_response", "17"},
                                        {"resp_rx_outouf_seq", "2"},
                                        {"tx_rdma_cnp_pkts", "18446744073709551615"},
                                        {"rx_rdma_ecn_pkts", "5"}});
  HostReader reader = reader_of(tree);
  const HostReading reading = reader.read(kSysfsStart);
  ASSERT_NE(port_of(reading, "rocep68s0", 1), nullptr);
  EXPECT_EQ(port_of(reading, "rocep68s0", 1)->driver, "ionic");
  EXPECT_EQ(value_of(reading, {"rocep68s0", 1, "duplicate_response"}), 17U);
  EXPECT_EQ(value_of(reading, {"rocep68s0", 1, "ecn_marked_packets"}), 5U);
  EXPECT_EQ(value_of(reading, {"rocep68s0", 1, "cnp_sent"}), std::nullopt) << "all ones are no reading";
}

TEST(HostReaderSysfs, SaysHowWideACounterIsAndWhatItDoesAtItsTop) {
  const SysfsTree tree;
  tree.add_mlx5();
  HostReader reader = reader_of(tree);
  const HostReading reading = reader.read(kSysfsStart);
  // 8 bits: stuck. Left as it is; so is a queue counter about to wrap.
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "link_downed"}), 255U);
  const HostSeries* downed = tests::series_of(reading, {"mlx5_0", 1, "link_downed"});
  EXPECT_EQ(downed->bits, 8);
  EXPECT_EQ(downed->behaviour, CounterBehaviour::kSticks);
  EXPECT_EQ(downed->source, CounterSource::kUnknown) << "one source alone";
  const HostSeries* errors = tests::series_of(reading, {"mlx5_0", 1, "receive_errors"});
  ASSERT_NE(errors, nullptr);
  EXPECT_EQ(errors->source, CounterSource::kRdma);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "out_of_sequence"}), 4'294'967'295U);
  const HostSeries* oos = tests::series_of(reading, {"mlx5_0", 1, "out_of_sequence"});
  EXPECT_EQ(oos->bits, 32);
  EXPECT_EQ(oos->behaviour, CounterBehaviour::kWraps);
  EXPECT_EQ(tests::series_of(reading, {"mlx5_0", 1, "cnp_sent"})->bits, 64);
  // Words that stuck at their top do not turn into a small number of bytes.
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "receive_bytes"}), kTop);
}

TEST(HostReaderSysfs, LosesOnlyTheValueThatCannotBeRead) {
  const SysfsTree tree;
  const fs::path port = tree.add_mlx5();
  // A folder in a counter's place answers EISDIR, as a driver may answer EINVAL.
  fs::create_directory(tree.at(port / "counters/link_error_recovery"));
  tree.write(port / "hw_counters/duplicate_request", "-5\n");
  ASSERT_EQ(::mkfifo(tree.at(port / "hw_counters/rnr_nak_retry_err").c_str(), 0600), 0);
  HostReader reader = reader_of(tree);
  const HostReading reading = reader.read(kSysfsStart);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "symbol_errors"}), std::nullopt);        // N/A (no PMA)
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "receive_errors"}), std::nullopt);       // empty
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "link_error_recovery"}), std::nullopt);  // EISDIR
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "duplicate_request"}), std::nullopt);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "rnr_nak"}), std::nullopt);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "transmit_packets"}), 20U);
  // It comes back by itself.
  tree.write(port / "counters/symbol_error", "9\n");
  EXPECT_EQ(value_of(reader.read(kSysfsStart), {"mlx5_0", 1, "symbol_errors"}), 9U);
}

TEST(HostReaderSysfs, KeepsTheInventoryWhileNothingChanges) {
  const SysfsTree tree;
  const fs::path port = tree.add_mlx5();
  HostReader reader = reader_of(tree);
  const HostReading first = reader.read(kSysfsStart);
  tree.write(port / "counters/port_xmit_packets", "21\n");
  const HostReading second = reader.read(kSysfsStart + std::chrono::seconds(60));
  EXPECT_EQ(first.inventory, second.inventory);
  EXPECT_EQ(value_of(second, {"mlx5_0", 1, "transmit_packets"}), 21U);
  tree.write(port / "state", "1: DOWN\n");
  tree.write(port / "phys_state", "2: Polling\n");
  const HostReading third = reader.read(kSysfsStart + std::chrono::seconds(61));
  EXPECT_NE(first.inventory, third.inventory);
  EXPECT_EQ(port_of(third, "mlx5_0", 1)->state, PortState::kDown);
  EXPECT_EQ(port_of(third, "mlx5_0", 1)->physical_state, PortPhysicalState::kPolling);
  EXPECT_EQ(port_of(third, "mlx5_0", 1)->rate_bits_per_second, 0U);
  EXPECT_EQ(port_of(first, "mlx5_0", 1)->state, PortState::kActive);
}

TEST(HostReaderSysfs, SeesDevicesComeAndGoBetweenTwoReadings) {
  const SysfsTree tree;
  HostReader reader = reader_of(tree);
  EXPECT_TRUE(reader.read(kSysfsStart).inventory->ports.empty());
  tree.add_mlx5();
  const HostReading with = reader.read(kSysfsStart);
  EXPECT_NE(port_of(with, "mlx5_0", 1), nullptr);
  tree.remove_device("devices/pci0000:00/0000:17:00.0/infiniband/mlx5_0");
  const HostReading without = reader.read(kSysfsStart);
  EXPECT_TRUE(without.inventory->ports.empty());
  EXPECT_TRUE(without.values.empty());
}

TEST(HostReaderSysfs, SurvivesADeviceThatLosesItsFiles) {
  const SysfsTree tree;
  const fs::path port = tree.add_mlx5();
  const fs::path other = tree.add_device("", "rxe0") / "ports/1";
  tree.write(other.parent_path().parent_path() / "parent", "eth1\n");
  tree.write(other / "hw_counters/sent_pkts", "5\n");
  HostReader reader = reader_of(tree);
  reader.read(kSysfsStart);
  // The class still names the device while its folder is gone: what a removal looks like halfway.
  fs::remove_all(tree.at(port.parent_path()));
  const HostReading reading = reader.read(kSysfsStart + std::chrono::seconds(11));
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "transmit_packets"}), std::nullopt);
  EXPECT_EQ(value_of(reading, {"rxe0", 1, "transmit_packets"}), 5U);
}

TEST(HostReaderSysfs, FindsCountersThatAppearLater) {
  const SysfsTree tree;
  const fs::path port = tree.add_mlx5();
  HostReader reader = reader_of(tree);
  reader.read(kSysfsStart);
  tree.write(port / "hw_counters/roce_slow_restart", "8\n");
  const HostReading reading = reader.read(kSysfsStart + std::chrono::seconds(10));
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "slow_restart"}), 8U);
}

TEST(HostReaderSysfs, GivesRawNamesOnlyWhenAskedFor) {
  const SysfsTree tree;
  tree.add_mlx5();
  HostReader plain = reader_of(tree);
  EXPECT_EQ(tests::position_of(plain.read(kSysfsStart), {"mlx5_0", 1, "rx_read_requests"}), std::nullopt);
  HostReader raw = reader_of(tree, true);
  const HostReading reading = raw.read(kSysfsStart);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "rx_read_requests"}), 77U);
  EXPECT_TRUE(tests::series_of(reading, {"mlx5_0", 1, "rx_read_requests"})->is_raw);
  EXPECT_EQ(tests::position_of(reading, {"mlx5_0", 1, "lifespan"}), std::nullopt);
}

TEST(HostReaderSysfs, TellsPortsVirtualFunctionsAndBondsApart) {
  const SysfsTree tree;
  // Two ports of one function, each with an interface; an IPoIB child of the first.
  tree.add_function("0000:03:00.0", "mlx4_core");
  tree.add_interface("0000:03:00.0", "eth4", "4", "0");
  tree.add_interface("0000:03:00.0", "eth5", "5", "1");
  tree.add_interface("0000:03:00.0", "eth4.8001", "9", "0");
  const fs::path mlx4 = tree.add_device("0000:03:00.0", "mlx4_0");
  tree.write_all(mlx4 / "ports/1", {{"link_layer", "Ethernet"}, {"gids/0", "fe80:0000:0000:0000:0202:c9ff:fe00:0001"}});
  tree.write_all(mlx4 / "ports/2", {{"link_layer", "Ethernet"}, {"gids/0", "0000:0000:0000:0000:0000:ffff:0a00:0001"}});
  tree.write_all(mlx4 / "ports/1/hw_counters", {{"sq_num_oos", "6"}, {"sq_num_to", "7"}});
  tree.write_all(mlx4 / "hw_counters", {{"rq_num_oos", "8"}});
  tree.write("devices/virtual/net/bond0/bonding/slaves", "eth5\n");
  fs::create_directory_symlink(tree.at("devices/virtual/net/bond0"), tree.at("class/net/eth5/master"));
  tree.add_function("0000:03:00.1", "mlx4_core");
  fs::create_directory_symlink(tree.at("devices/pci0000:00/0000:03:00.0"),
                               tree.at("devices/pci0000:00/0000:03:00.1/physfn"));
  tree.write_all(tree.add_device("0000:03:00.1", "mlx4_1") / "ports/1", {{"link_layer", "Ethernet"}});

  HostReader reader = reader_of(tree);
  const HostReading reading = reader.read(kSysfsStart);
  const HostPort* first = port_of(reading, "mlx4_0", 1);
  const HostPort* second = port_of(reading, "mlx4_0", 2);
  EXPECT_EQ(first->netdev, "eth4");
  EXPECT_EQ(first->bond, "");
  EXPECT_EQ(first->port_guid, (PortGuid{0x0202c9fffe000001}));
  EXPECT_EQ(second->netdev, "eth5");
  EXPECT_EQ(second->bond, "bond0");
  EXPECT_EQ(second->port_guid, PortGuid{});
  EXPECT_TRUE(port_of(reading, "mlx4_1", 1)->is_virtual_function);
  EXPECT_FALSE(first->is_virtual_function);
  EXPECT_EQ(value_of(reading, {"mlx4_0", 1, "sequence_nak"}), 6U);
  EXPECT_EQ(value_of(reading, {"mlx4_0", 1, "ack_timeout"}), 7U);
  EXPECT_EQ(value_of(reading, {"mlx4_0", 0, "out_of_sequence"}), 8U);
}

TEST(HostReaderSysfs, TakesSoftwareDevicesForNoHardware) {
  const SysfsTree tree;
  tree.add_mlx5();
  // Both stand on an adapter's interface and show its function as their own.
  const fs::path rxe = tree.add_device("0000:17:00.0", "rxe0");
  tree.write(rxe / "parent", "ib0\n");
  tree.write(rxe / "ports/1/hw_counters/sent_pkts", "5\n");
  tree.write(tree.add_device("0000:17:00.0", "siw0") / "node_desc", "Software iWARP stack\n");
  tree.write("devices/pci0000:00/0000:17:00.0/infiniband/siw0/ports/1/state", "4: ACTIVE\n");
  HostReader reader = reader_of(tree);
  const HostReading reading = reader.read(kSysfsStart);
  EXPECT_EQ(port_of(reading, "rxe0", 1)->driver, "rxe");
  EXPECT_EQ(port_of(reading, "rxe0", 1)->pci_address, "");
  EXPECT_EQ(value_of(reading, {"rxe0", 1, "transmit_packets"}), 5U);
  EXPECT_EQ(port_of(reading, "siw0", 1)->driver, "siw");
  EXPECT_EQ(port_of(reading, "siw0", 1)->pci_address, "");
  EXPECT_EQ(port_of(reading, "mlx5_0", 1)->pci_address, "0000:17:00.0");
}

TEST(HostReaderSysfs, TellsWhenAnInfiniBandPortChangesItsState) {
  const SysfsTree tree;
  const fs::path port = tree.add_mlx5();
  HostReader reader = reader_of(tree);
  reader.read(kSysfsStart);
  EXPECT_TRUE(reader.take_events(kSysfsStart).empty());
  EXPECT_EQ(reader.event_fd(), -1);
  tree.write(port / "state", "1: DOWN\n");
  const TimePoint later = kSysfsStart + std::chrono::seconds(1);
  reader.read(later);
  const std::vector<LinkEvent> events = reader.take_events(later);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].at, later);
  EXPECT_EQ(events[0].device, "mlx5_0");
  EXPECT_EQ(events[0].port, 1);
  EXPECT_EQ(events[0].netdev, "ib0");
  EXPECT_FALSE(events[0].up);
  EXPECT_TRUE(reader.take_events(later).empty());
}

TEST(HostReaderSysfs, ReadsWhatOtherDriversHave) {
  const SysfsTree tree;
  tree.add_function("0000:41:00.0", "bnxt_en");
  tree.write_all(tree.add_device("0000:41:00.0", "rocep65s0") / "ports/1/hw_counters",
                 {{"to_retransmits", "1"}, {"oos_drop_count", "2"}, {"rx_ecn_marked_pkts", "3"}});
  tree.add_function("0000:42:00.0", "ice");
  tree.write_all(tree.add_device("0000:42:00.0", "irdma0") / "ports/1/hw_counters",
                 {{"cnpSent", "4"}, {"ip4InDiscards", "5"}, {"ip6InDiscards", "6"}, {"RxECNMrkd", "7"}});
  tree.add_function("0000:43:00.0", "hfi1");
  tree.write_all(tree.add_device("0000:43:00.0", "hfi1_0") / "ports/1/counters",
                 {{"port_xmit_data", "8"}, {"link_downed", "9"}});
  const fs::path rxe = tree.add_device("", "soft");
  tree.write(rxe / "parent", "veth3\n");
  tree.write_all(rxe / "ports/1/hw_counters", {{"retry_exceeded_err", "10"}, {"link_downed", "11"}});

  HostReader reader = reader_of(tree);
  const HostReading reading = reader.read(kSysfsStart);
  EXPECT_EQ(value_of(reading, {"rocep65s0", 1, "ack_timeout"}), 1U);
  EXPECT_EQ(value_of(reading, {"rocep65s0", 1, "out_of_sequence"}), 2U);
  EXPECT_EQ(value_of(reading, {"rocep65s0", 1, "ecn_marked_packets"}), 3U);
  EXPECT_EQ(value_of(reading, {"irdma0", 1, "cnp_sent"}), 4U);
  EXPECT_EQ(value_of(reading, {"irdma0", 1, "receive_drop"}), 11U);
  EXPECT_EQ(value_of(reading, {"hfi1_0", 1, "transmit_bytes"}), 32U);
  EXPECT_EQ(value_of(reading, {"hfi1_0", 1, "link_downed"}), 9U);
  EXPECT_EQ(value_of(reading, {"soft", 1, "retries_exhausted"}), 10U);
  EXPECT_EQ(tests::series_of(reading, {"soft", 1, "link_downed"})->bits, 64);
  const HostPort* soft = port_of(reading, "soft", 1);
  EXPECT_EQ(soft->driver, "rxe");
  EXPECT_EQ(soft->netdev, "veth3");
  EXPECT_EQ(soft->pci_address, "");
  EXPECT_EQ(port_of(reading, "irdma0", 1)->driver, "irdma");

  // Half of a sum is not the sum.
  tree.write("devices/pci0000:00/0000:42:00.0/infiniband/irdma0/ports/1/hw_counters/ip6InDiscards", "N/A\n");
  EXPECT_EQ(value_of(reader.read(kSysfsStart), {"irdma0", 1, "receive_drop"}), std::nullopt);
}

TEST(HostReaderSysfs, ReadsRecordedHosts) {
  const fs::path recorded = fs::path(WEFT_FIXTURES) / "sysfs/mixed-hfi1-mlx4-mlx5";
  if (!fs::exists(recorded)) GTEST_SKIP() << "no fixtures";
  const SysfsTree tree;
  fs::remove(tree.at("class/infiniband"));
  fs::create_directory_symlink(fs::absolute(recorded), tree.at("class/infiniband"));
  HostReader reader = reader_of(tree, true);
  const HostReading reading = reader.read(kSysfsStart);
  ASSERT_EQ(reading.inventory->ports.size(), 4U);
  EXPECT_EQ(port_of(reading, "hfi1_0", 1)->driver, "hfi1");
  EXPECT_EQ(port_of(reading, "hfi1_0", 1)->firmware, "1.27.0");
  EXPECT_EQ(value_of(reading, {"hfi1_0", 1, "transmit_bytes"}), 273'558'326'543U * 4);
  EXPECT_EQ(port_of(reading, "mlx4_0", 2)->rate_bits_per_second, 40'000'000'000U);
  EXPECT_EQ(value_of(reading, {"mlx4_0", 2, "transmit_wait"}), 3846U);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "unicast_transmit_packets"}), 10'907'922'116U);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "ack_timeout"}), 131U);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "request_completion_error"}), 3481U);
  EXPECT_EQ(value_of(reading, {"mlx5_0", 1, "response_flush"}), 4708U);
  EXPECT_EQ(port_of(reading, "mlx5_0", 1)->state, PortState::kActive);
}

}  // namespace
}  // namespace weft
