// SPDX-License-Identifier: Apache-2.0
// The reader on the machine's own kernel, whatever that has.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <tuple>

#include "collectors/host/host_reader.hpp"
#include "fabric/counters.hpp"

namespace weft {
namespace {

constexpr TimePoint kLiveStart{std::chrono::seconds(1'000'000)};

TEST(HostReaderLive, KeepsWhatItPromisesOnThisMachine) {
  for (const bool raw_names : {false, true}) {
    HostReaderOptions options;
    options.raw_names = raw_names;
    HostReader reader(options);
    const HostReading first = reader.read(kLiveStart);
    ASSERT_NE(first.inventory, nullptr);
    EXPECT_EQ(first.values.size(), first.inventory->series.size());
    EXPECT_EQ(first.present.size(), first.inventory->series.size());
    const std::vector<HostPort>& ports = first.inventory->ports;
    for (std::size_t i = 1; i < ports.size(); ++i)
      EXPECT_LT(std::tie(ports[i - 1].device, ports[i - 1].number), std::tie(ports[i].device, ports[i].number));
    std::set<std::tuple<std::string, int, std::string, int, int, int, int>> seen;
    for (const HostSeries& series : first.inventory->series) {
      EXPECT_TRUE(seen.emplace(series.device, series.port, series.name, static_cast<int>(series.direction),
                               series.priority, series.lane, static_cast<int>(series.source))
                      .second)
          << series.device << ' ' << series.name;
      EXPECT_TRUE(series.is_raw || find_counter(series.name) != nullptr) << series.name;
    }
    EXPECT_EQ(reader.read(kLiveStart + std::chrono::seconds(1)).inventory->ports.size(), ports.size());
  }
}

TEST(HostReaderLive, WatchesInterfacesOfHardware) {
  const std::filesystem::path interfaces = "/sys/class/net";
  std::string hardware;
  for (const auto& entry : std::filesystem::directory_iterator(interfaces))
    if (std::filesystem::exists(entry.path() / "device")) hardware = entry.path().filename().string();
  if (hardware.empty()) GTEST_SKIP() << "no interface with a device on this machine";
  HostReader reader({});
  const HostReading reading = reader.read(kLiveStart);
  const HostPort* found = nullptr;
  for (const HostPort& port : reading.inventory->ports) {
    EXPECT_NE(port.netdev, "lo");
    if (port.netdev == hardware) found = &port;
  }
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->driver, "");
  bool has_bytes = false;
  for (std::size_t i = 0; i < reading.values.size(); ++i)
    if (reading.inventory->series[i].device == found->device && reading.inventory->series[i].name == "receive_bytes")
      has_bytes = reading.present[i] == 1;
  EXPECT_TRUE(has_bytes);
  EXPECT_GE(reader.event_fd(), 0);
}

}  // namespace
}  // namespace weft
